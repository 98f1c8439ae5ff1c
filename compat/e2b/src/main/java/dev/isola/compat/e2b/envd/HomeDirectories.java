package dev.isola.compat.e2b.envd;

import dev.isola.spi.SandboxId;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.exec.Command;
import dev.isola.spi.exec.ExecResult;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

/**
 * Caches the home directories of users in sandboxes. Each sandbox is queried once per user, and
 * again after it has been booted again.
 */
final class HomeDirectories {
  private static final int MAX_CACHED = 10_000;
  private static final Duration LOOKUP_TIMEOUT = Duration.ofSeconds(10);

  private record Key(SandboxId sandbox, long boot, Optional<String> user) {}

  private final ToLongFunction<SandboxId> boots;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Key, UserHome> cache =
      new LinkedHashMap<>(64, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, UserHome> eldest) {
          return size() > MAX_CACHED;
        }
      };

  /**
   * @param boots returns a number that changes when a sandbox is booted again
   */
  HomeDirectories(ToLongFunction<SandboxId> boots) {
    this.boots = boots;
  }

  /**
   * Returns the home of a user.
   *
   * @param user empty for the default user of the sandbox
   */
  UserHome find(Sandbox sandbox, Optional<String> user) {
    Key key = new Key(sandbox.id(), boots.applyAsLong(sandbox.id()), user);
    lock.lock();
    try {
      UserHome home = cache.get(key);
      if (home != null) {
        return home;
      }
    } finally {
      lock.unlock();
    }
    UserHome found = lookUp(sandbox, user);
    lock.lock();
    try {
      cache.put(key, found);
    } finally {
      lock.unlock();
    }
    return found;
  }

  /**
   * Queries the sandbox. For the default user, relative paths start in the working directory of the
   * sandbox; for a named user, in the home directory.
   */
  private static UserHome lookUp(Sandbox sandbox, Optional<String> user) {
    Command command =
        Command.argv("/bin/sh", "-c", "echo \"$HOME\"; echo \"$USER\"; pwd")
            .withTimeout(LOOKUP_TIMEOUT);
    ExecResult result = sandbox.run(user.map(command::withUser).orElse(command));
    List<String> lines = result.stdout().text().lines().toList();
    if (lines.size() != 3 || !lines.getFirst().startsWith("/")) {
      throw Fault.of(
              ErrorCode.NOT_IMPLEMENTED,
              "the home directory of the user could not be determined",
              "use an image that contains /bin/sh")
          .sandbox(sandbox.id())
          .exception();
    }
    String home = lines.get(0);
    String name = user.orElse(lines.get(1).isEmpty() ? "0" : lines.get(1));
    return new UserHome(name, home, user.isPresent() ? home : lines.get(2));
  }
}
