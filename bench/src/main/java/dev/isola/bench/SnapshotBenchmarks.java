package dev.isola.bench;

import dev.isola.bench.BenchSubject.Iteration;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Snapshots of a tree in a sandbox, through the engine, beside {@code tar | zstd}, {@code restic}
 * and {@code docker commit} of the same tree: all of it, then after one file in a hundred changed,
 * then made once more, then ten sandboxes with it at once.
 */
final class SnapshotBenchmarks {
  private static final int N = 5;
  private static final int FORKS = 20;

  private SnapshotBenchmarks() {}

  /** One who keeps trees. Each call does what its name says, once. */
  interface SnapshotTool extends AutoCloseable {
    String name();

    /** Keeps all of the tree, as if for the first time; {@link #discard} precedes it. */
    BytesMoved captureFull() throws IOException, InterruptedException;

    /** Throws away what was kept. */
    void discard() throws IOException, InterruptedException;

    /** Runs a shell text in the folder of the tree. */
    void change(String script) throws IOException, InterruptedException;

    /** Keeps the tree once more. */
    BytesMoved captureChanged() throws IOException, InterruptedException;

    /** Makes the tree that was kept last once more, where a command could use it. */
    void restore() throws IOException, InterruptedException;

    /** Makes the tree of now ten times, each where a command could use it. */
    void forkTen() throws IOException, InterruptedException;

    /** Removes what {@link #restore} and {@link #forkTen} made. */
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

  /** Ten forks alone, of a tree of small files. */
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

  /** Something is changed before each time, so that nobody can have it from the time before. */
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
