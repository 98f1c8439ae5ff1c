package dev.isola.host.launch;

import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Gives running containers a {@link Containment#BOOT_ID boot id} of their own. Some runtimes refuse
 * mounts below {@code /proc}, so the launcher mounts it from outside. Called once after each start
 * of a container, before any command runs in it.
 */
public final class ContainerBootIds implements AutoCloseable {
  private static final String REFUSED = "refused ";

  private final Launcher launcher;

  /**
   * @param programs the folder in which the launcher is installed on first use
   */
  public ContainerBootIds(Path programs, InstanceId installation) {
    this(new Launcher(LauncherBinary.in(programs), programs, installation));
  }

  ContainerBootIds(Launcher launcher) {
    this.launcher = launcher;
  }

  /** Reports whether this process may enter the namespaces of containers. */
  public static boolean available() {
    return SandboxUserIds.rangesAvailable();
  }

  /** Starts the launcher unless it is running; without it the first mount does. */
  public void start() throws IOException {
    launcher.ensureRunning();
  }

  /**
   * Mounts a new boot id in the container of an engine on this machine, found by the socket on
   * which its agent listens.
   *
   * @return why the launcher has no access to containers of that engine; empty if the boot id is
   *     mounted
   * @throws IOException if it cannot be mounted for any other reason, such as the end of the
   *     container
   */
  public Optional<String> mount(Path socket, Duration timeout) throws IOException {
    return mount(new LaunchPlan().step("boot-id", socket.toString()), timeout);
  }

  /** Likewise in the container of an agent that is a process of this host. */
  Optional<String> mount(AgentProcess agent, Duration timeout) throws IOException {
    String pid = Long.toString(agent.pid());
    return mount(new LaunchPlan().step("boot-id", pid, Long.toString(agent.startTime())), timeout);
  }

  private Optional<String> mount(LaunchPlan plan, Duration timeout) throws IOException {
    String answer = launcher.execute(plan.encode(), timeout);
    if (answer.equals("done")) {
      return Optional.empty();
    }
    if (answer.startsWith(REFUSED)) {
      return Optional.of(answer.substring(REFUSED.length()));
    }
    throw new IOException(answer.isEmpty() ? "the launcher exited without an answer" : answer);
  }

  @Override
  public void close() {
    launcher.close();
  }
}
