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
 * Gives sandboxes an address and a way out. The order is always the same, for root and for others:
 *
 * <ol>
 *   <li>{@link #resolvConf()} goes into the sandbox's root;
 *   <li>the agent is started in an empty network namespace of its own;
 *   <li>{@link #attach} puts an interface into that namespace, before the first command runs;
 *   <li>{@link #remove} when no process of the sandbox is left.
 * </ol>
 *
 * <p>What is in the namespace ends with its last process, whoever dies before: there is no name to
 * clean up. Commands have no rights over the namespace, so what is set up inside stays.
 *
 * <p>May be used by many threads, and by many processes of one or several installations at once.
 */
public final class BridgeNetwork {
  private static final String REMEDY = "run isola doctor to see what is missing, or ask for none";

  private final NetworkPath path;
  private volatile @Nullable Prerequisite found;

  /**
   * @param instance whose name everything bears
   */
  public BridgeNetwork(InstanceId instance) {
    this.path = NetworkPath.of(instance);
  }

  /** Tells whether {@link #attach} can work here. Tried until it can, then remembered. */
  public boolean available() {
    return prerequisite().present();
  }

  /** Tells what is missing, and how to get it. Tried until nothing is, then remembered. */
  public Prerequisite prerequisite() {
    Prerequisite known = found;
    if (known == null) {
      known = probe();
      found = known.present() ? known : null;
    }
    return known;
  }

  private Prerequisite probe() {
    try {
      return Uninterruptible.call(path::probe);
    } catch (IOException e) {
      throw new IllegalStateException("finding out tells what is wrong, it does not throw", e);
    }
  }

  /** Tells whether the bandwidth is held to its limit, both ways. */
  public boolean limitsBandwidth() {
    return available() && path.limitsBandwidth();
  }

  /**
   * Returns the content of {@code /etc/resolv.conf} in a sandbox: only servers it can reach, none
   * when the host has none of those.
   *
   * @throws dev.isola.spi.error.ProviderUnavailable when the host's own cannot be read
   */
  public String resolvConf() {
    try {
      List<String> resolvers = path.resolvers();
      return resolvers.isEmpty()
          ? "# the host has no name server that a sandbox could reach\n"
          : resolvers.stream().map(r -> "nameserver " + r + "\n").collect(Collectors.joining());
    } catch (IOException e) {
      throw unavailable("the host's name servers cannot be read: " + e.getMessage(), e);
    }
  }

  /**
   * Gives the network namespace of {@code agent} an interface {@code eth0}, an address and routes,
   * and returns when packets can leave. What an earlier call made for this sandbox goes first, so
   * it may be repeated, also for a sandbox that was started anew.
   *
   * @param agent a process in the namespace; it must not be the host's
   * @param bandwidthMbps held to where {@link #limitsBandwidth()}
   * @throws dev.isola.spi.error.ProviderUnavailable with the words of the program that failed;
   *     nothing is left then
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
    Attachment made = path.attach(id, agent, bandwidthMbps);
    // Somebody else may have had its pid by then.
    if (!agent.isAlive()) {
      throw new IOException("its agent has ended");
    }
    return made;
  }

  private static SandboxException failed(
      SandboxId id, String why, String remedy, @Nullable IOException cause) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE, "no network for sandbox " + id + ": " + why, remedy)
        .sandbox(id)
        .exception(cause);
  }

  /**
   * Takes everything away that {@link #attach} made, also by another process, also half of it. To
   * be called when no process of the sandbox is left, and only for one that was to be attached: it
   * takes some programs to find out that there is nothing. May be repeated.
   */
  public void remove(SandboxId id) throws IOException {
    Uninterruptible.call(
        () -> {
          path.remove(id);
          return id;
        });
  }

  /** Setting up the wrong namespace would cut the host off. */
  private static void refuseHostNamespace(AgentProcess agent) throws IOException {
    Path theirs;
    try {
      theirs = Files.readSymbolicLink(Path.of("/proc/" + agent.pid() + "/ns/net"));
    } catch (IOException e) {
      throw new IOException("process " + agent.pid() + " is gone or not ours", e);
    }
    if (theirs.equals(Files.readSymbolicLink(Path.of("/proc/self/ns/net")))) {
      throw new IOException("process " + agent.pid() + " is in the network of the host");
    }
  }

  private static SandboxException unavailable(String what, IOException cause) {
    return Fault.of(ErrorCode.PROVIDER_UNAVAILABLE, what, REMEDY).exception(cause);
  }
}
