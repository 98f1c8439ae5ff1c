package dev.isola.host.launch;

import dev.isola.link.MachineArchitecture;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The system calls that a sandbox may make according to the agent, for seccomp filters. */
public final class SystemCalls {
  /**
   * The flags of {@code clone} and {@code unshare} that create namespaces, all of which are
   * forbidden.
   */
  public static final long NAMESPACES = 0x7e020000L;

  private static final String LIST = "/META-INF/isola/agent/syscalls.h";
  private static final Pattern CALL = Pattern.compile("CALL\\((\\w+)[,)]");
  private static final List<String> ALLOWED = read();

  private SystemCalls() {}

  /** Returns the names of the system calls that are allowed with any arguments. */
  public static List<String> allowed() {
    return ALLOWED;
  }

  /** Returns the host's architecture in the notation of OCI seccomp filters. */
  public static String architecture() {
    return architecture(MachineArchitecture.ofHost());
  }

  static String architecture(MachineArchitecture architecture) {
    return switch (architecture) {
      case X86_64 -> "SCMP_ARCH_X86_64";
      case AARCH64 -> "SCMP_ARCH_AARCH64";
    };
  }

  private static List<String> read() {
    try (InputStream list = SystemCalls.class.getResourceAsStream(LIST)) {
      if (list == null) {
        throw new IllegalStateException(
            "the list of system calls is missing from this build: " + LIST);
      }
      String text = new String(list.readAllBytes(), StandardCharsets.UTF_8);
      return CALL.matcher(text).results().map(SystemCalls::name).distinct().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String name(MatchResult call) {
    return call.group(1);
  }
}
