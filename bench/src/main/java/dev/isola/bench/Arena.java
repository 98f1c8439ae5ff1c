package dev.isola.bench;

import dev.isola.conformance.Scratch;
import dev.isola.spi.provider.ProviderFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Where it all takes place: the entrants, the comparators and peers, a folder for files. */
final class Arena implements AutoCloseable {
  private final Plan plan;
  private final Scratch scratch = Scratch.make("isola-bench");
  private final Thread hook = Thread.ofPlatform().unstarted(this::cleanUp);
  private final Optional<RawProgram> program;
  private final Map<String, Peer> peers = new LinkedHashMap<>();
  private final List<Entrant> entrants = new ArrayList<>();
  private final Map<String, Housed> housed = new LinkedHashMap<>();
  private final Map<String, Served> served = new LinkedHashMap<>();
  private final List<Absent> absent = new ArrayList<>();
  private final List<SnapshotEvents.Keeper> keepers = new ArrayList<>();

  private Arena(Plan plan) throws IOException {
    this.plan = plan;
    Runtime.getRuntime().addShutdownHook(hook);
    program = RawProgram.install(scratch.path());
  }

  static Arena open(Plan plan) throws IOException, InterruptedException {
    Arena arena = new Arena(plan);
    try {
      arena.enter();
      return arena;
    } catch (RuntimeException | InterruptedException e) {
      arena.close();
      throw e;
    }
  }

  private void enter() throws InterruptedException {
    if (plan.against().contains("raw") && program.isEmpty()) {
      absent.add(
          new Absent("raw", "not built for " + System.getProperty("os.arch") + " (make -C bench)"));
    }
    for (String tool : List.of("cp", "tar", "restic")) {
      if (plan.against().contains(tool) && !Tool.installed(tool)) {
        absent.add(new Absent(tool, "not installed"));
      }
    }
    if (plan.benchmarks().stream()
        .anyMatch(List.of("create", "warm", "exec", "files", "api")::contains)) {
      peers.putAll(Peers.open(plan, this, absent));
    }
    for (ProviderFactory factory : plan.providers()) {
      try {
        entrants.add(Entrant.of(factory));
      } catch (RuntimeException e) {
        absent.add(new Absent(factory.name(), String.valueOf(e.getMessage())));
      }
    }
  }

  Path folder() {
    return scratch.path();
  }

  /** Returns our C program, for whoever needs one that runs anywhere. */
  Optional<RawProgram> program() {
    return program;
  }

  /** Returns our C program as a comparator, where it is wanted. */
  Optional<RawProgram> raw() {
    return program.filter(found -> plan.against().contains("raw"));
  }

  /** Returns the peers by name. */
  Map<String, Peer> peers() {
    return peers;
  }

  /** Makes a contestant of a peer; one that cannot is told. */
  interface Making {
    Contestant of(EngineCommand docker) throws IOException, InterruptedException;
  }

  /**
   * Returns {@code docker cp} as a contestant, where it takes part; absent learns why it cannot.
   */
  List<Contestant> dockerCopying(Making making) {
    if (!(peers.get("docker") instanceof EngineCommand docker)) {
      return List.of();
    }
    try {
      return List.of(making.of(docker));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      absent.add(new Absent("docker cp", "interrupted"));
    } catch (IOException e) {
      absent.add(new Absent("docker cp", String.valueOf(e.getMessage())));
    }
    return List.of();
  }

  /** Returns the versions of the peers, by name. */
  Map<String, String> versions() {
    Map<String, String> versions = new LinkedHashMap<>();
    peers.forEach((name, peer) -> versions.put(name, peer.version()));
    return versions;
  }

  /** Tells whether a comparator that is a program of this machine takes part. */
  boolean has(String comparator) {
    return plan.against().contains(comparator)
        && (comparator.equals("processbuilder")
            || comparator.equals("engine")
            || Tool.installed(comparator));
  }

  List<Entrant> entrants() {
    return entrants;
  }

  /**
   * Returns the provider of an entrant behind an engine; {@code absent} learns why there is none.
   */
  Optional<Housed> housed(Entrant entrant) {
    try {
      return Optional.of(
          housed.computeIfAbsent(
              entrant.name(),
              name -> Housed.open(entrant.trial().factory(), folder().resolve(name + "-engine"))));
    } catch (RuntimeException e) {
      absent.add(new Absent(entrant.name() + Housed.SUFFIX, String.valueOf(e.getMessage())));
      return Optional.empty();
    }
  }

  /** Returns that engine behind a port; {@code absent} learns why there is none. */
  Optional<Served> served(Entrant entrant) {
    Optional<Housed> house = housed(entrant);
    try {
      return house.map(
          one -> served.computeIfAbsent(entrant.name(), name -> Served.open(name, one)));
    } catch (RuntimeException e) {
      absent.add(new Absent(entrant.name() + Served.SUFFIX, String.valueOf(e.getMessage())));
      return Optional.empty();
    }
  }

  /** Has somebody closed before everything else. */
  synchronized void closing(SnapshotEvents.Keeper keeper) {
    keepers.add(keeper);
  }

  List<Absent> absent() {
    return absent;
  }

  @Override
  public void close() {
    try {
      served.values().forEach(Served::close);
      housed.values().forEach(Housed::close);
      entrants.forEach(Entrant::close);
    } finally {
      cleanUp();
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The JVM is ending already.
      }
    }
  }

  /** Sandboxes see to themselves when the JVM is told to end; containers and files do not. */
  private synchronized void cleanUp() {
    for (SnapshotEvents.Keeper keeper : keepers) {
      try {
        keeper.close();
      } catch (IllegalStateException e) {
        absent.add(new Absent(keeper.name(), String.valueOf(e.getMessage())));
      }
    }
    keepers.clear();
    for (Map.Entry<String, Peer> peer : peers.entrySet()) {
      try {
        peer.getValue().close();
      } catch (IllegalStateException e) {
        absent.add(new Absent(peer.getKey(), String.valueOf(e.getMessage())));
      }
    }
    scratch.close();
  }
}
