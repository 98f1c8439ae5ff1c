package dev.isola.provider.oci;

import dev.isola.host.launch.Isolator.RunningSandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.NetworkMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The namespaces of a process according to the host's kernel. */
final class Namespaces {
  /** The namespaces of a container. */
  static final List<String> ALL = List.of("pid", "mnt", "user", "ipc", "uts");

  /** The namespaces of gVisor's own process; it implements the others itself. */
  static final List<String> OWN_KERNEL = List.of("mnt", "user");

  private Namespaces() {}

  /**
   * Verifies that a sandbox shares none of these namespaces with this process, nor the network
   * unless requested.
   */
  static void requireIsolated(RunningSandbox running, String runtime, List<String> types) {
    List<String> required = new ArrayList<>(types);
    if (running.network() != NetworkMode.HOST) {
      required.add("net");
    }
    for (String type : required) {
      if (of("self", type).equals(of(Long.toString(running.agent().pid()), type))) {
        throw notIsolated(
            running, runtime, "it is in the host's " + type + " namespace", "a real " + runtime);
      }
    }
  }

  /** Throws if a namespace cannot be determined, instead of assuming a different one. */
  private static String of(String process, String type) {
    Path link = Path.of("/proc", process, "ns", type);
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the isolation cannot be verified: " + link + " cannot be read",
              "check whether the sandbox has ended, and create a new one")
          .exception(e);
    }
  }

  static SandboxException notIsolated(
      RunningSandbox running, String runtime, String why, String instead) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "sandbox " + running.sandbox().id() + " is not isolated by " + runtime + ": " + why,
            "check which program " + runtime + " is on this host, and install " + instead)
        .sandbox(running.sandbox().id())
        .exception();
  }
}
