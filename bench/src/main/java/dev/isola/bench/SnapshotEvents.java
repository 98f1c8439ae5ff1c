package dev.isola.bench;

import dev.isola.bench.Contestant.Once;
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
final class SnapshotEvents {
  private static final int N = 5;
  private static final int FORKS = 20;

  private SnapshotEvents() {}

  /** One who keeps trees. Each call does what its name says, once. */
  interface Keeper extends AutoCloseable {
    String name();

    /** Keeps all of the tree, as if for the first time; {@link #forget} precedes it. */
    Volume full() throws IOException, InterruptedException;

    /** Throws away what was kept. */
    void forget() throws IOException, InterruptedException;

    /** Runs a shell text in the folder of the tree. */
    void change(String script) throws IOException, InterruptedException;

    /** Keeps the tree once more. */
    Volume again() throws IOException, InterruptedException;

    /** Makes the tree that was kept last once more, where a command could use it. */
    void restore() throws IOException, InterruptedException;

    /** Makes the tree of now ten times, each where a command could use it. */
    void forkTen() throws IOException, InterruptedException;

    /** Removes what {@link #restore} and {@link #forkTen} made. */
    void tidy() throws IOException, InterruptedException;

    @Override
    void close();
  }

  static List<Event> of(Arena arena, Plan plan) throws IOException, InterruptedException {
    SnapshotTree tree = SnapshotTree.make(arena.folder().resolve("snapshot-tree"), plan.sizes());
    List<Keeper> keepers = keepers(arena, plan, tree);
    int n = plan.n().orElse(N);
    return List.of(
        event("snapshot-full", n, tree, keepers, (keeper, round) -> keeper.forget(), Keeper::full),
        event(
            "snapshot-incremental",
            n,
            tree,
            keepers,
            (keeper, round) -> keeper.change(tree.change(round)),
            Keeper::again),
        event(
            "restore",
            n,
            tree,
            keepers,
            (keeper, round) -> keeper.tidy(),
            keeper -> {
              keeper.restore();
              return null;
            }),
        forks(n, tree, keepers));
  }

  /** Ten forks alone, of a tree of small files. */
  static List<Event> forks(Arena arena, Plan plan) throws IOException, InterruptedException {
    SnapshotTree tree = SnapshotTree.small(arena.folder().resolve("fork-tree"), plan.sizes());
    List<Keeper> keepers = keepers(arena, plan, tree);
    for (Keeper keeper : keepers) {
      keeper.forget();
    }
    return List.of(forks(plan.n().orElse(FORKS), tree, keepers));
  }

  private static List<Keeper> keepers(Arena arena, Plan plan, SnapshotTree tree)
      throws IOException, InterruptedException {
    List<Keeper> keepers = new ArrayList<>(SnapshotPeers.of(arena, plan, tree));
    for (Entrant entrant : arena.entrants()) {
      arena
          .housed(entrant)
          .ifPresent(housed -> keepers.add(EngineKeeper.open(housed, tree, arena.absent())));
    }
    keepers.forEach(arena::closing);
    return keepers;
  }

  /** Something is changed before each time, so that nobody can have it from the time before. */
  private static Event forks(int n, SnapshotTree tree, List<Keeper> keepers) {
    return event(
        "fork-10",
        n,
        tree,
        keepers,
        (keeper, round) -> {
          keeper.tidy();
          keeper.change("echo " + round + " > small/0/f0");
        },
        keeper -> {
          keeper.forkTen();
          return null;
        });
  }

  private interface Before {
    void run(Keeper keeper, int round) throws IOException, InterruptedException;
  }

  private interface Doing {
    @org.jspecify.annotations.Nullable
    Volume run(Keeper keeper) throws IOException, InterruptedException;
  }

  private static Event event(
      String name, int n, SnapshotTree tree, List<Keeper> keepers, Before before, Doing doing) {
    List<Contestant> contestants = new ArrayList<>();
    for (Keeper keeper : keepers) {
      int[] round = {0};
      @Nullable Volume[] last = new @Nullable Volume[1];
      Once once = () -> last[0] = doing.run(keeper);
      contestants.add(
          new Contestant(
                  keeper.name(),
                  (count, concurrency) -> {
                    Samples samples = Samples.NONE;
                    for (int i = 0; i < count; i++) {
                      before.run(keeper, ++round[0]);
                      samples = samples.and(Parallel.run(once, 1, 1));
                    }
                    keeper.tidy();
                    return samples;
                  })
              .telling(() -> Optional.ofNullable(last[0])));
    }
    return new Event(name, "tar", 1, n, 1, tree.bytes(), contestants);
  }
}
