package dev.isola.bench;

import dev.isola.bench.BenchSubject.Iteration;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Snapshots of a tree in a sandbox through the engine, compared with {@code tar | zstd}, {@code
 * restic} and {@code docker commit} of the same tree: a full snapshot, an incremental one after
 * changing one file in a hundred, a restore, and ten concurrent forks.
 */
final class SnapshotBenchmarks {
  private static final int N = 5;
  private static final int FORKS = 20;

  private SnapshotBenchmarks() {}

  /** A tool that captures and restores a tree. Each method does its work once. */
  interface SnapshotTool extends AutoCloseable {
    String name();

    /** Captures the whole tree as if for the first time, after {@link #discard}. */
    BytesMoved captureFull() throws IOException, InterruptedException;

    /** Discards all captures. */
    void discard() throws IOException, InterruptedException;

    /** Runs a shell script in the folder of the tree. */
    void change(String script) throws IOException, InterruptedException;

    /** Captures the tree again after a change. */
    BytesMoved captureChanged() throws IOException, InterruptedException;

    /** Restores the last capture to a place where a command can use it. */
    void restore() throws IOException, InterruptedException;

    /** Copies the current tree ten times, each to a place where a command can use it. */
    void forkTen() throws IOException, InterruptedException;

    /** Removes the results of {@link #restore} and {@link #forkTen}. */
    void cleanUp() throws IOException, InterruptedException;

    @Override
    void close();
  }

  static List<Benchmark> of(BenchEnvironment environment, BenchPlan plan)
      throws IOException, InterruptedException {
    SnapshotTree tree =
        SnapshotTree.make(environment.folder().resolve("snapshot-tree"), plan.sizes());
    List<SnapshotTool> tools = tools(environment, plan, tree);
    int n = plan.n().orElse(N);
    return List.of(
        event(
            "snapshot-full",
            n,
            tree,
            tools,
            (snapshotTool, round) -> snapshotTool.discard(),
            SnapshotTool::captureFull),
        event(
            "snapshot-incremental",
            n,
            tree,
            tools,
            (snapshotTool, round) -> snapshotTool.change(tree.change(round)),
            SnapshotTool::captureChanged),
        event(
            "restore",
            n,
            tree,
            tools,
            (snapshotTool, round) -> snapshotTool.cleanUp(),
            snapshotTool -> {
              snapshotTool.restore();
              return null;
            }),
        forks(n, tree, tools));
  }

  /** Returns the fork benchmark alone, on a tree of small files. */
  static List<Benchmark> forks(BenchEnvironment environment, BenchPlan plan)
      throws IOException, InterruptedException {
    SnapshotTree tree = SnapshotTree.small(environment.folder().resolve("fork-tree"), plan.sizes());
    List<SnapshotTool> tools = tools(environment, plan, tree);
    for (SnapshotTool snapshotTool : tools) {
      snapshotTool.discard();
    }
    return List.of(forks(plan.n().orElse(FORKS), tree, tools));
  }

  private static List<SnapshotTool> tools(
      BenchEnvironment environment, BenchPlan plan, SnapshotTree tree)
      throws IOException, InterruptedException {
    List<SnapshotTool> tools = new ArrayList<>(SnapshotPeers.of(environment, plan, tree));
    for (BenchProvider benchProvider : environment.providers()) {
      environment
          .engine(benchProvider)
          .ifPresent(
              benchEngine ->
                  tools.add(EngineSnapshotTool.open(benchEngine, tree, environment.skipped())));
    }
    tools.forEach(environment::closeFirst);
    return tools;
  }

  /** Changes the tree before each iteration, so that no tool can reuse an earlier result. */
  private static Benchmark forks(int n, SnapshotTree tree, List<SnapshotTool> tools) {
    return event(
        "fork-10",
        n,
        tree,
        tools,
        (snapshotTool, round) -> {
          snapshotTool.cleanUp();
          snapshotTool.change("echo " + round + " > small/0/f0");
        },
        snapshotTool -> {
          snapshotTool.forkTen();
          return null;
        });
  }

  private interface Setup {
    void run(SnapshotTool snapshotTool, int round) throws IOException, InterruptedException;
  }

  private interface SnapshotOperation {
    @org.jspecify.annotations.Nullable
    BytesMoved run(SnapshotTool snapshotTool) throws IOException, InterruptedException;
  }

  private static Benchmark event(
      String name,
      int n,
      SnapshotTree tree,
      List<SnapshotTool> tools,
      Setup before,
      SnapshotOperation doing) {
    List<BenchSubject> subjects = new ArrayList<>();
    for (SnapshotTool snapshotTool : tools) {
      int[] round = {0};
      @Nullable BytesMoved[] last = new @Nullable BytesMoved[1];
      Iteration once = () -> last[0] = doing.run(snapshotTool);
      subjects.add(
          new BenchSubject(
                  snapshotTool.name(),
                  (count, concurrency) -> {
                    Samples samples = Samples.NONE;
                    for (int i = 0; i < count; i++) {
                      before.run(snapshotTool, ++round[0]);
                      samples = samples.plus(Parallel.run(once, 1, 1));
                    }
                    snapshotTool.cleanUp();
                    return samples;
                  })
              .reportingBytes(() -> Optional.ofNullable(last[0])));
    }
    return new Benchmark(name, "tar", 1, n, 1, tree.bytes(), subjects);
  }
}
