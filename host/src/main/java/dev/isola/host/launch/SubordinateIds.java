package dev.isola.host.launch;

import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A subordinate user and group assigned to an ordinary user in {@code /etc/subuid} and {@code
 * /etc/subgid}. Without root, the root of a sandbox is the server's user to the kernel; so the
 * host's files are opened with the subordinate ids instead, which own no files.
 */
final class SubordinateIds {
  private static final String NAME = "private user ids";
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final List<String> PROGRAMS = List.of("newuidmap", "newgidmap");
  private static final List<Path> FOLDERS = List.of(Path.of("/usr/bin"), Path.of("/bin"));

  /** Ids on the host. */
  record Pair(long user, long group) {}

  /**
   * The result of the lookup.
   *
   * @param obstacle why there is no pair; empty if there is one or none is needed
   */
  private record LookupResult(Optional<Pair> pair, String obstacle) {}

  private final Launcher launcher;
  private final Path etc;
  private final boolean needed;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable LookupResult found;

  SubordinateIds(Launcher launcher) {
    this(launcher, Path.of("/etc"), !SandboxUserIds.rangesAvailable());
  }

  /**
   * @param etc the {@code /etc} of the host or of a test
   * @param needed whether sandboxes have no range of ids
   */
  SubordinateIds(Launcher launcher, Path etc, boolean needed) {
    this.launcher = launcher;
    this.etc = etc;
    this.needed = needed;
  }

  /** Returns the ids if they are needed and the launcher can use them; probes once. */
  Optional<Pair> pair() {
    return find().pair();
  }

  /** Returns the line of {@code isola doctor} and of the list of providers. */
  Prerequisite prerequisite() {
    if (!needed) {
      return new Prerequisite(NAME, false, true, SandboxUserIds.COUNT + " for each sandbox", "");
    }
    LookupResult now = find();
    return now.pair()
        .map(
            pair ->
                new Prerequisite(
                    NAME,
                    false,
                    true,
                    "the sandbox's root is this user; files of the host are opened as user "
                        + pair.user()
                        + ", which can read only world-readable files",
                    ""))
        .orElseGet(
            () ->
                new Prerequisite(
                    NAME,
                    false,
                    false,
                    "none: a sandbox's root is this user, and can read private files of this user"
                        + " in /usr, /opt and the exposed part of /etc ("
                        + now.obstacle()
                        + ")",
                    "install newuidmap (apt-get install uidmap) and assign ranges to this user"
                        + " (usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER),"
                        + " run Isola as root, or keep no secrets of this user there"));
  }

  private LookupResult find() {
    LookupResult known = found;
    if (known == null) {
      lock.lock();
      try {
        known = found;
        if (known == null) {
          known = needed ? lookUp() : new LookupResult(Optional.empty(), "");
          found = known;
        }
      } finally {
        lock.unlock();
      }
    }
    return known;
  }

  private LookupResult lookUp() {
    for (String program : PROGRAMS) {
      if (FOLDERS.stream().noneMatch(folder -> Files.isExecutable(folder.resolve(program)))) {
        return new LookupResult(Optional.empty(), program + " is not installed");
      }
    }
    OptionalLong user = first(etc.resolve("subuid"));
    OptionalLong group = first(etc.resolve("subgid"));
    if (user.isEmpty() || group.isEmpty()) {
      return new LookupResult(
          Optional.empty(), "this user has no range in /etc/subuid and /etc/subgid");
    }
    Pair pair = new Pair(user.getAsLong(), group.getAsLong());
    String obstacle = probe(pair);
    return new LookupResult(obstacle.isEmpty() ? Optional.of(pair) : Optional.empty(), obstacle);
  }

  /**
   * Lets the launcher stage the host's root with these ids. Returns why that fails, or an empty
   * string.
   */
  private String probe(Pair pair) {
    try {
      LaunchPlan plan = new LaunchPlan();
      plan.add(userNamespaceStep(Optional.of(pair)));
      plan.step("stage");
      HostRootfs.plan(plan, List.of());
      plan.step("remove", "/tmp/root/absent");
      String answer = launcher.execute(plan.encode(), TIMEOUT);
      return answer.equals("done")
          ? ""
          : answer.isEmpty() ? "the launcher exited without an answer" : answer;
    } catch (IOException e) {
      return "the launcher cannot be reached: " + e.getMessage();
    }
  }

  /** Returns the step with which the launcher becomes root of a new user namespace. */
  static List<String> userNamespaceStep(Optional<Pair> pair) {
    return pair.map(ids -> List.of("self", Long.toString(ids.user()), Long.toString(ids.group())))
        .orElse(List.of("self"));
  }

  private static OptionalLong first(Path file) {
    try {
      return first(
          Files.readAllLines(file),
          System.getProperty("user.name", ""),
          Files.getAttribute(Path.of("/proc/self"), "unix:uid").toString());
    } catch (IOException | UnsupportedOperationException e) {
      return OptionalLong.empty();
    }
  }

  /** Returns the start of the first range assigned to a user by name or id. */
  static OptionalLong first(List<String> lines, String name, String uid) {
    for (String line : lines) {
      String[] fields = line.strip().split(":", -1);
      boolean given = fields.length == 3 && (fields[0].equals(name) || fields[0].equals(uid));
      if (given && fields[1].matches("\\d{1,10}") && fields[2].matches("0*[1-9]\\d{0,9}")) {
        return OptionalLong.of(Long.parseLong(fields[1]));
      }
    }
    return OptionalLong.empty();
  }
}
