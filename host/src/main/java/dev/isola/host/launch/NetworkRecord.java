package dev.isola.host.launch;

import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.NetworkMode;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The network of a sandbox, recorded in its folder: it is needed at each boot and on destroy,
 * possibly by a process that never had its spec.
 */
public record NetworkRecord(NetworkMode mode, int bandwidthMbps) {
  /** The {@code /etc/resolv.conf} of a filtered network: the agent answers at this address. */
  public static final String FILTERED_RESOLV_CONF = "nameserver 198.18.0.1\n";

  public static NetworkRecord of(SandboxSpec spec) {
    return new NetworkRecord(
        spec.network().mode().orElse(NetworkMode.NONE), spec.limits().bandwidthMbps());
  }

  public void write(SandboxFolder folder) throws IOException {
    Files.write(file(folder), List.of(mode.name(), Integer.toString(bandwidthMbps)));
  }

  /** Returns the record; empty if the boot of the sandbox did not get that far. */
  public static Optional<NetworkRecord> read(SandboxFolder folder) throws IOException {
    if (!Files.exists(file(folder))) {
      return Optional.empty();
    }
    List<String> lines = Files.readAllLines(file(folder));
    if (lines.size() < 2) {
      return Optional.empty();
    }
    return Optional.of(
        new NetworkRecord(NetworkMode.valueOf(lines.get(0)), Integer.parseInt(lines.get(1))));
  }

  /** Returns whether a sandbox that was booted passes connections to other hosts to the server. */
  public static boolean isFiltered(SandboxFolder folder) {
    try {
      return read(folder).filter(network -> network.mode() == NetworkMode.FILTERED).isPresent();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the network record of a sandbox cannot be read: " + e.getMessage(),
              "check the permissions of " + folder.path())
          .exception(e);
    }
  }

  private static Path file(SandboxFolder folder) {
    return folder.path().resolve("network");
  }
}
