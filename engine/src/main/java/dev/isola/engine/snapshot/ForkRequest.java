package dev.isola.engine.snapshot;

import dev.isola.engine.startup.Startup;

/**
 * The forks that a client requests.
 *
 * @param count the number of forks
 * @param allowSecrets whether the memory of a sandbox with secret variables may be forked
 * @param hostAccess whether the client is allowed the host network and host folders that the
 *     sandbox uses
 * @param startup the commands to run in each fork before it is ready; not run in forks of memory,
 *     whose processes are already running
 */
public record ForkRequest(
    int count, ForkKind kind, boolean allowSecrets, boolean hostAccess, Startup startup) {
  public static ForkRequest of(int count, ForkKind kind) {
    return new ForkRequest(count, kind, false, false, Startup.NONE);
  }

  public ForkRequest withAllowSecrets(boolean allowed) {
    return new ForkRequest(count, kind, allowed, hostAccess, startup);
  }

  public ForkRequest withHostAccess(boolean allowed) {
    return new ForkRequest(count, kind, allowSecrets, allowed, startup);
  }

  public ForkRequest withStartup(Startup commands) {
    return new ForkRequest(count, kind, allowSecrets, hostAccess, commands);
  }
}
