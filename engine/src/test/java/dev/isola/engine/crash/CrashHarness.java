package dev.isola.engine.crash;

import static org.awaitility.Awaitility.await;

import dev.isola.conformance.TemporaryFolder;
import dev.isola.conformance.leak.LeakDetector;
import dev.isola.conformance.leak.ResourceScan;
import dev.isola.conformance.leak.TrackedResource;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.store.Failpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Starts an engine in a separate process, generates load, kills it, starts the next one on what it
 * left, and checks that everything acknowledged still holds and nothing else exists.
 */
final class CrashHarness implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private static final Duration LOOK_AGAIN = Duration.ofMillis(100);

  /** How often to check whether pending work has finished. */
  private static final int LOOKS = 100;

  /** Shorter with a planted bug, whose pending work never finishes. */
  private static final int LOOKS_IN_VAIN = 30;

  /** How long to wait for a failpoint; after that the child is killed anyway. */
  private static final Duration TRAFFIC = Duration.ofSeconds(6);

  private static final int EVERY_NTH_AT_ANY_MOMENT = 5;

  /** Failpoints that only bubblewrap reaches. */
  static final Set<Failpoint> WITH_BUBBLEWRAP =
      EnumSet.of(
          Failpoint.VOLUME_WRITTEN,
          Failpoint.VOLUME_CREATED,
          Failpoint.VOLUME_REMOVING,
          Failpoint.VOLUME_DESTROYED,
          Failpoint.TEMPLATE_BUILD_WRITTEN,
          Failpoint.TEMPLATE_BUILD_RUNNING,
          Failpoint.TEMPLATE_IMAGE_MADE,
          Failpoint.TEMPLATE_BUILD_FINISHED,
          Failpoint.TEMPLATE_REMOVING,
          Failpoint.PAUSE_DONE,
          Failpoint.PAUSE_WRITTEN,
          Failpoint.RESUME_DONE,
          Failpoint.RESUME_WRITTEN,
          Failpoint.RECONCILE_CORRECTED);

  /** Failpoints that are passed often are also hit later than at the first pass. */
  private static final Set<Failpoint> OFTEN =
      EnumSet.of(
          Failpoint.CREATE_SELECTED,
          Failpoint.CREATE_ADMITTED,
          Failpoint.CREATE_WRITTEN,
          Failpoint.CREATE_MAKING,
          Failpoint.CREATE_MADE,
          Failpoint.CREATE_RUNNING,
          Failpoint.CREATE_DELIVERED,
          Failpoint.END_BEGUN,
          Failpoint.END_WRITTEN,
          Failpoint.END_DESTROYED,
          Failpoint.END_DROPPED,
          Failpoint.END_FINISHED,
          Failpoint.RECORD_KEY_BOUND,
          Failpoint.RECORD_INSERTED,
          Failpoint.RECORD_UPDATED,
          Failpoint.EVENT_SIGNALLED,
          Failpoint.LEDGER_BEGUN,
          Failpoint.LEDGER_BEFORE_COMMIT,
          Failpoint.LEDGER_AFTER_COMMIT);

  /** The outage faults that a failpoint requires in order to be reached. */
  private static final Map<Failpoint, OutageFault> NEEDS =
      Map.of(
          Failpoint.RECONCILE_REMOVING, OutageFault.STRAY,
          Failpoint.RECONCILE_REMOVED, OutageFault.STRAY,
          Failpoint.RECONCILE_LOST, OutageFault.LOST,
          Failpoint.RECONCILE_CORRECTED, OutageFault.PAUSED);

  private final TemporaryFolder scratch = TemporaryFolder.create("isola-crash-");
  private final CrashSite site;
  private final PlantedBug planted;
  private final long seed;
  private final Random random;
  private final LeakDetector leaks;
  private final ResourceScan before;
  private final ExpectedState model = new ExpectedState();
  private final Map<Failpoint, Integer> hits = new EnumMap<>(Failpoint.class);
  private final Deque<Failpoint> agenda = new ArrayDeque<>();
  private int killed;
  private int cycles;
  private boolean finished;

  /**
   * @param ledger as in {@link CrashSite}
   * @param pausing whether a provider on this machine can pause
   */
  CrashHarness(long seed, PlantedBug planted, List<String> ledger, boolean pausing) {
    this.seed = seed;
    this.planted = planted;
    this.random = new Random(seed);
    this.site =
        new CrashSite(new InstanceId("c" + SandboxId.random(random)), scratch.path(), ledger);
    this.leaks = new LeakDetector(site.instance(), site.data());
    this.before = leaks.scan();
    List<Failpoint> points = new ArrayList<>(List.of(Failpoint.values()));
    if (!pausing) {
      points.removeAll(WITH_BUBBLEWRAP);
    }
    Collections.shuffle(points, random);
    agenda.addAll(points);
  }

  /** The result of a run. */
  record Outcome(List<String> broken, Map<Failpoint, Integer> hits, int cycles, int killed) {}

  /** Kills {@code count} times, or until an invariant is broken, and then shuts down. */
  Outcome run(int count) throws InterruptedException {
    Outcome outcome = run(count, any -> true);
    return outcome.broken().isEmpty()
        ? new Outcome(
            finish(planted, any -> true), outcome.hits(), outcome.cycles(), outcome.killed())
        : outcome;
  }

  /** Kills {@code count} times, or until an invariant that {@code wanted} accepts is broken. */
  Outcome run(int count, Predicate<String> wanted) throws InterruptedException {
    List<String> broken = new ArrayList<>();
    for (int i = 0; i < count && broken.isEmpty(); i++) {
      broken.addAll(cycle(i, wanted));
    }
    return new Outcome(broken, hits, cycles, killed);
  }

  private List<String> cycle(int number, Predicate<String> wanted) throws InterruptedException {
    cycles++;
    Optional<Failpoint> point =
        number % EVERY_NTH_AT_ANY_MOMENT == EVERY_NTH_AT_ANY_MOMENT - 1
            ? Optional.empty()
            : Optional.of(agenda.removeFirst());
    int nth = point.filter(OFTEN::contains).isPresent() ? 1 + random.nextInt(40) : 1;
    Optional<String> armed = point.map(one -> one + ":" + nth);
    List<String> broken = new ArrayList<>();
    boolean hit;
    try (ChildProcess child = start(planted, armed, point, number)) {
      if (readUntil(child, "ready")) {
        broken.addAll(check(child, wanted));
        if (broken.isEmpty()) {
          traffic(child, point.isPresent());
        }
      }
      child.kill();
      drain(child);
      hit = child.stoppedAtFailpoint();
      if (!hit && child.status() != 128 + 9) {
        broken.add("the child ended by itself, with " + child.status());
      }
    }
    point.ifPresent(one -> note(one, hit));
    killed += hit ? 0 : 1;
    return broken.stream().map(what -> words(number, armed, what)).toList();
  }

  private String words(int number, Optional<String> armed, String what) {
    return what
        + " (cycle "
        + number
        + ", "
        + armed.orElse("killed at any moment")
        + ", seed "
        + seed
        + ")";
  }

  /** Failpoints that were not reached come first, those that were come last. */
  private void note(Failpoint point, boolean hit) {
    if (hit) {
      hits.merge(point, 1, Integer::sum);
      agenda.addLast(point);
    } else {
      List<Failpoint> rest = new ArrayList<>(agenda);
      rest.add(Math.min(rest.size(), 2), point);
      agenda.clear();
      agenda.addAll(rest);
    }
  }

  private ChildProcess start(
      PlantedBug bug, Optional<String> armed, Optional<Failpoint> point, int number) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                site.instance().value(),
                site.folder().toString(),
                Long.toString(seed + number),
                bug.name(),
                plants(point),
                yaml(number)));
    arguments.addAll(site.ledger());
    return ChildProcess.start(EngineCrashChild.class, armed, log(), arguments);
  }

  private Path log() {
    return scratch.path().resolve("children.log");
  }

  private String plants(Optional<Failpoint> point) {
    Set<OutageFault> plants = EnumSet.noneOf(OutageFault.class);
    for (OutageFault plant : OutageFault.values()) {
      if (random.nextInt(4) == 0) {
        plants.add(plant);
      }
    }
    point.map(NEEDS::get).ifPresent(plants::add);
    return String.join(",", plants.stream().map(OutageFault::name).toList());
  }

  /** Changes the warm pool with each process, so that there are obsolete sandboxes. */
  private static String yaml(int number) {
    return """
    shutdown: drain
    pool:
      - provider: subprocess
        size: 1
        spec:
          env: {KIND: %s}
    """
        .formatted(number % 2 == 0 ? "wa" : "wb");
  }

  /** Returns false if the child exited before. */
  private boolean readUntil(ChildProcess child, String wanted) throws InterruptedException {
    Optional<String> line = child.next(TIMEOUT);
    while (line.isPresent() && !line.get().equals(wanted)) {
      model.apply(line.get());
      line = child.next(TIMEOUT);
    }
    return line.isPresent();
  }

  /** Checks the recovered state; pending work gets some time to finish. */
  private List<String> check(ChildProcess child, Predicate<String> wanted) {
    List<String> violated = new ArrayList<>();
    int[] looks = {planted == PlantedBug.NOTHING ? LOOKS : LOOKS_IN_VAIN};
    await()
        .forever()
        .pollInSameThread()
        .pollDelay(Duration.ZERO)
        .pollInterval(LOOK_AGAIN)
        .until(() -> isSettled(child, wanted, violated) || looks[0]-- == 0);
    return violated;
  }

  /**
   * Returns whether the state will not change any more.
   *
   * @param violated the invariants that are violated now
   */
  private boolean isSettled(ChildProcess child, Predicate<String> wanted, List<String> violated)
      throws InterruptedException {
    violated.clear();
    List<TrackedResource> things = leaks.scan().resources();
    Optional<StateDump> dump = dump(child);
    if (dump.isEmpty()) {
      return true; // a background task stopped it at its failpoint
    }
    List<String> lasting = Invariants.lasting(model, dump.get()).stream().filter(wanted).toList();
    List<String> passing =
        Invariants.passing(model, dump.get(), things).stream().filter(wanted).toList();
    if (!lasting.isEmpty() || passing.isEmpty()) {
      model.settle(dump.get());
      violated.addAll(lasting);
      return true;
    }
    violated.addAll(passing);
    return false;
  }

  private static Optional<StateDump> dump(ChildProcess child) throws InterruptedException {
    child.say("dump");
    StateDump dump = new StateDump();
    Optional<String> line = child.next(TIMEOUT);
    while (line.isPresent() && !line.get().equals("dumped")) {
      dump.parse(line.get());
      line = child.next(TIMEOUT);
    }
    return line.map(end -> dump);
  }

  private void traffic(ChildProcess child, boolean armed) throws InterruptedException {
    for (String key : model.unanswered) {
      child.say("retry " + key);
    }
    child.say("go");
    child.endsWithin(armed ? TRAFFIC : Duration.ofMillis(200 + random.nextInt(1500)));
  }

  private void drain(ChildProcess child) throws InterruptedException {
    Optional<String> line = child.next(TIMEOUT);
    while (line.isPresent()) {
      if (!StateDump.isOf(line.get())) {
        model.apply(line.get());
      }
      line = child.next(TIMEOUT);
    }
  }

  /** Shuts down like a server and checks that nothing is left. */
  private List<String> finish(PlantedBug bug, Predicate<String> wanted)
      throws InterruptedException {
    List<String> broken = new ArrayList<>();
    try (ChildProcess child = start(bug, Optional.empty(), Optional.empty(), cycles)) {
      if (!readUntil(child, "ready")) {
        return List.of("the last child did not start");
      }
      broken.addAll(check(child, wanted));
      child.say("finish");
      drain(child);
      if (child.status() != 0) {
        broken.add("the last child ended with " + child.status());
      }
    }
    finished = true;
    broken.addAll(leaks.leakedSince(before));
    return broken.stream().map(what -> words(cycles, Optional.of("finish"), what)).toList();
  }

  /** Returns the last log lines of the children, for diagnosis. */
  String log(int lines) throws IOException {
    List<String> all = Files.readAllLines(log());
    return String.join("\n", all.subList(Math.max(0, all.size() - lines), all.size()));
  }

  /** Destroys what a failed run left behind; returns what cannot be destroyed. */
  List<String> putAway() throws InterruptedException {
    return finish(PlantedBug.NOTHING, none -> false);
  }

  /** Leaves nothing behind, whatever happened. */
  @Override
  public void close() {
    try {
      if (!finished) {
        putAway();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      scratch.close();
    }
  }
}
