package dev.isola.host.network;

import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Connects sandboxes to the internet. The order is the same with and without root:
 *
 * <ol>
 *   <li>{@link #resolvConf()} is written to the sandbox's root;
 *   <li>the agent starts in an empty network namespace;
 *   <li>{@link #attach} adds an interface to that namespace before the first command runs;
 *   <li>{@link #remove} cleans up when no process of the sandbox is left.
 * </ol>
 *
 * <p>Interfaces disappear with the last process of the namespace, so a crash leaves nothing to
 * clean up there. Commands have no privileges over the namespace and cannot change its
 * configuration.
 *
 * <p>Safe for concurrent use by threads, processes and installations.
 */
public final class BridgeNetwork {
  private static final String REMEDY =
      "run isola doctor to see what is missing, or use network mode none";

  private final NetworkPath path;
  private volatile @Nullable Prerequisite found;

  /**
   * @param instance the installation, whose id is part of all names
   */
  public BridgeNetwork(InstanceId instance) {
    this.path = NetworkPath.of(instance);
  }

  /** Reports whether {@link #attach} works on this host. Only a positive result is cached. */
  public boolean available() {
    return prerequisite().present();
  }

  /** Returns what is missing and how to provide it. Only a positive result is cached. */
  public Prerequisite prerequisite() {
    Prerequisite cached = found;
    if (cached == null) {
      cached = probe();
      found = cached.present() ? cached : null;
    }
    return cached;
  }

  private Prerequisite probe() {
    try {
      return Uninterruptible.call(path::probe);
    } catch (IOException e) {
      throw new IllegalStateException("a probe must not throw", e);
    }
  }

  /** Reports whether bandwidth limits are enforced in both directions. */
  public boolean limitsBandwidth() {
    return available() && path.limitsBandwidth();
  }

  /**
   * Returns the content of {@code /etc/resolv.conf} of a sandbox: the name servers of the host that
   * it can reach.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable if the host's configuration cannot be read
   */
  public String resolvConf() {
    try {
      List<String> resolvers = path.resolvers();
      return resolvers.isEmpty()
          ? "# the host has no name server that sandboxes can reach\n"
          : resolvers.stream().map(r -> "nameserver " + r + "\n").collect(Collectors.joining());
    } catch (IOException e) {
      throw unavailable("the host's name servers cannot be read: " + e.getMessage(), e);
    }
  }

  /**
   * Adds an interface {@code eth0}, an address and routes to the network namespace of {@code agent}
   * and returns when packets can flow. Replaces what an earlier call created for this sandbox, so
   * it can be repeated, also after a restart of the sandbox.
   *
   * @param agent a process in the namespace, which must not be the host's
   * @param bandwidthMbps enforced if {@link #limitsBandwidth()}
   * @throws dev.isola.spi.error.ProviderUnavailable with the output of the program that failed;
   *     nothing is left behind
   */
  public Attachment attach(SandboxId id, AgentProcess agent, int bandwidthMbps) {
    Prerequisite needed = prerequisite();
    if (!needed.present()) {
      throw failed(id, needed.detail(), needed.fix(), null);
    }
    try {
      return Uninterruptible.call(() -> attachChecked(id, agent, bandwidthMbps));
    } catch (IOException e) {
      String why = agent.isAlive() ? String.valueOf(e.getMessage()) : "its agent has ended";
      SandboxException failed = failed(id, why, REMEDY, e);
      try {
        remove(id);
      } catch (IOException again) {
        failed.addSuppressed(again);
      }
      throw failed;
    }
  }

  private Attachment attachChecked(SandboxId id, AgentProcess agent, int bandwidthMbps)
      throws IOException {
    refuseHostNamespace(agent);
    Attachment attachment = path.attach(id, agent, bandwidthMbps);
    // Its pid may have been reused in the meantime.
    if (!agent.isAlive()) {
      throw new IOException("its agent has ended");
    }
    return attachment;
  }

  private static SandboxException failed(
      SandboxId id, String why, String remedy, @Nullable IOException cause) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE, "no network for sandbox " + id + ": " + why, remedy)
        .sandbox(id)
        .exception(cause);
  }

  /**
   * Removes everything that {@link #attach} created, even partially or in another process. Called
   * when no process of the sandbox is left. Idempotent, but call it only for sandboxes with mode
   * bridge, because it starts several programs.
   */
  public void remove(SandboxId id) throws IOException {
    Uninterruptible.call(
        () -> {
          path.remove(id);
          return id;
        });
  }

  /** Configuring the host's namespace would disconnect the host. */
  private static void refuseHostNamespace(AgentProcess agent) throws IOException {
    Path namespace;
    try {
      namespace = Files.readSymbolicLink(Path.of("/proc/" + agent.pid() + "/ns/net"));
    } catch (IOException e) {
      throw new IOException("process " + agent.pid() + " has ended or belongs to another user", e);
    }
    if (namespace.equals(Files.readSymbolicLink(Path.of("/proc/self/ns/net")))) {
      throw new IOException("process " + agent.pid() + " is in the network namespace of the host");
    }
  }

  private static SandboxException unavailable(String what, IOException cause) {
    return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, what, REMEDY).exception(cause);
  }
}
