package dev.isola.host.network;

import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.provider.Prerequisite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How packets leave a sandbox: through the kernel for root, through a process for others. */
sealed interface NetworkPath permits RoutedPath, SlirpPath {
  /** Returns the way of the user this process runs as. */
  static NetworkPath of(InstanceId instance) {
    return isRoot() ? new RoutedPath(instance) : new SlirpPath(instance);
  }

  /** Tries it in namespaces of its own, so that the host notices nothing. */
  Prerequisite probe();

  /** Tells whether what goes in and out is held to the limit. Asked after {@link #probe}. */
  boolean limitsBandwidth();

  /** Returns the name servers a sandbox is told. */
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
