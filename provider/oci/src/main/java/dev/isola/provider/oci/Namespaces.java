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

/** The namespaces of a process, as the host's kernel tells them. */
final class Namespaces {
  /** Those of a container. */
  static final List<String> ALL = List.of("pid", "mnt", "user", "ipc", "uts");

  /** Those that a kernel in user space needs itself; it keeps the others for what runs in it. */
  static final List<String> OWN_KERNEL = List.of("mnt", "user");

  private Namespaces() {}

  /**
   * Makes sure that a sandbox shares none of these namespaces with this process, nor its network
   * unless it was asked for.
   */
  static void requireIsolated(RunningSandbox running, String runtime, List<String> types) {
    List<String> wanted = new ArrayList<>(types);
    if (running.network() != NetworkMode.HOST) {
      wanted.add("net");
    }
    for (String type : wanted) {
      if (of("self", type).equals(of(Long.toString(running.agent().pid()), type))) {
        throw notIsolated(
            running, runtime, "it is in the host's " + type + " namespace", "a real " + runtime);
      }
    }
  }

  /** A namespace that cannot be told is not taken for another one. */
  private static String of(String process, String type) {
    Path link = Path.of("/proc", process, "ns", type);
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the isolation cannot be verified: " + link + " cannot be read",
              "see whether the sandbox ended, and create it again")
          .exception(e);
    }
  }

  static SandboxException notIsolated(
      RunningSandbox running, String runtime, String why, String instead) {
    return Fault.of(
            ErrorCode.PROVIDER_UNAVAILABLE,
            "sandbox " + running.sandbox().id() + " is not isolated by " + runtime + ": " + why,
            "see what the program "
                + runtime
                + " on this machine really is, and install "
                + instead)
        .sandbox(running.sandbox().id())
        .exception();
  }
}
