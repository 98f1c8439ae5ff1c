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

  static List<Benchmark> of(BenchEnvironment arena, BenchPlan plan)
      throws IOException, InterruptedException {
    SnapshotTree tree = SnapshotTree.make(arena.folder().resolve("snapshot-tree"), plan.sizes());
    List<SnapshotTool> keepers = keepers(arena, plan, tree);
    int n = plan.n().orElse(N);
    return List.of(
        event(
            "snapshot-full",
            n,
            tree,
            keepers,
            (keeper, round) -> keeper.discard(),
            SnapshotTool::captureFull),
        event(
            "snapshot-incremental",
            n,
            tree,
            keepers,
            (keeper, round) -> keeper.change(tree.change(round)),
            SnapshotTool::captureChanged),
        event(
            "restore",
            n,
            tree,
            keepers,
            (keeper, round) -> keeper.cleanUp(),
            keeper -> {
              keeper.restore();
              return null;
            }),
        forks(n, tree, keepers));
  }

  /** Returns the fork benchmark alone, on a tree of small files. */
  static List<Benchmark> forks(BenchEnvironment arena, BenchPlan plan)
      throws IOException, InterruptedException {
    SnapshotTree tree = SnapshotTree.small(arena.folder().resolve("fork-tree"), plan.sizes());
    List<SnapshotTool> keepers = keepers(arena, plan, tree);
    for (SnapshotTool keeper : keepers) {
      keeper.discard();
    }
    return List.of(forks(plan.n().orElse(FORKS), tree, keepers));
  }

  private static List<SnapshotTool> keepers(
      BenchEnvironment arena, BenchPlan plan, SnapshotTree tree)
      throws IOException, InterruptedException {
    List<SnapshotTool> keepers = new ArrayList<>(SnapshotPeers.of(arena, plan, tree));
    for (BenchProvider entrant : arena.providers()) {
      arena
          .engine(entrant)
          .ifPresent(housed -> keepers.add(EngineSnapshotTool.open(housed, tree, arena.skipped())));
    }
    keepers.forEach(arena::closeFirst);
    return keepers;
  }

  /** Changes the tree before each iteration, so that no tool can reuse an earlier result. */
  private static Benchmark forks(int n, SnapshotTree tree, List<SnapshotTool> keepers) {
    return event(
        "fork-10",
        n,
        tree,
        keepers,
        (keeper, round) -> {
          keeper.cleanUp();
          keeper.change("echo " + round + " > small/0/f0");
        },
        keeper -> {
          keeper.forkTen();
          return null;
        });
  }

  private interface Setup {
    void run(SnapshotTool keeper, int round) throws IOException, InterruptedException;
  }

  private interface SnapshotOperation {
    @org.jspecify.annotations.Nullable
    BytesMoved run(SnapshotTool keeper) throws IOException, InterruptedException;
  }

  private static Benchmark event(
      String name,
      int n,
      SnapshotTree tree,
      List<SnapshotTool> keepers,
      Setup before,
      SnapshotOperation doing) {
    List<BenchSubject> contestants = new ArrayList<>();
    for (SnapshotTool keeper : keepers) {
      int[] round = {0};
      @Nullable BytesMoved[] last = new @Nullable BytesMoved[1];
      Iteration once = () -> last[0] = doing.run(keeper);
      contestants.add(
          new BenchSubject(
                  keeper.name(),
                  (count, concurrency) -> {
                    Samples samples = Samples.NONE;
                    for (int i = 0; i < count; i++) {
                      before.run(keeper, ++round[0]);
                      samples = samples.plus(Parallel.run(once, 1, 1));
                    }
                    keeper.cleanUp();
                    return samples;
                  })
              .reportingBytes(() -> Optional.ofNullable(last[0])));
    }
    return new Benchmark(name, "tar", 1, n, 1, tree.bytes(), contestants);
  }
}
