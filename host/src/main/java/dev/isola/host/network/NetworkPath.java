package dev.isola.host.network;

import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How packets leave a sandbox: forwarded by the kernel for root, or by a user-space process
 * otherwise.
 */
sealed interface NetworkPath permits RoutedPath, SlirpPath {
  /** Returns the path for the user of this process. */
  static NetworkPath of(InstanceId instance) {
    return isRoot() ? new RoutedPath(instance) : new SlirpPath(instance);
  }

  /** Tries the path in temporary namespaces, without effects on the host. */
  Prerequisite probe();

  /** Reports whether bandwidth limits are enforced. Valid after {@link #probe}. */
  boolean limitsBandwidth();

  /** Returns the name servers of a sandbox. */
  List<String> resolvers() throws IOException;

  Attachment attach(SandboxId id, AgentProcess agent, int bandwidthMbps) throws IOException;

  void remove(SandboxId id) throws IOException;

  private static boolean isRoot() {
    try {
      return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }
}
