package dev.isola.engine.api;

import java.util.Optional;

/**
 * The forks that a client requests.
 *
 * @param count the number of forks
 * @param allowSecrets whether the memory of a sandbox with secret variables may be forked
 * @param hostAccess whether the client is allowed the host network and host folders that the
 *     sandbox uses
 * @param key the name of the API key of the client
 * @param startup the commands to run in each fork before it is ready; not run in forks of memory,
 *     whose processes are already running
 */
public record ForkRequest(
    int count,
    ForkKind kind,
    boolean allowSecrets,
    boolean hostAccess,
    Optional<String> key,
    Startup startup) {
  /** Returns a request for forks of files. */
  public static ForkRequest of(int count) {
    return of(count, ForkKind.FILESYSTEM);
  }

  public static ForkRequest of(int count, ForkKind kind) {
    return new ForkRequest(count, kind, false, false, Optional.empty(), Startup.NONE);
  }

  public ForkRequest withKind(ForkKind other) {
    return new ForkRequest(count, other, allowSecrets, hostAccess, key, startup);
  }

  public ForkRequest withAllowSecrets(boolean allowed) {
    return new ForkRequest(count, kind, allowed, hostAccess, key, startup);
  }

  public ForkRequest withHostAccess(boolean allowed) {
    return new ForkRequest(count, kind, allowSecrets, allowed, key, startup);
  }

  public ForkRequest withKey(Optional<String> keyName) {
    return new ForkRequest(count, kind, allowSecrets, hostAccess, keyName, startup);
  }

  public ForkRequest withStartup(Startup commands) {
    return new ForkRequest(count, kind, allowSecrets, hostAccess, key, commands);
  }
}
