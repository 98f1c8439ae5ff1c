package dev.isola.app.purge;

import dev.isola.link.local.AgentProcess;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process of an installation. A user who is not root sees only the user's own processes. */
sealed interface HostProcess {
  /** Pid and start time. */
  AgentProcess process();

  /**
   * An agent, a supervisor, a command or a network process of a sandbox, recognized by its command
   * line or its environment.
   */
  record OfSandbox(AgentProcess process, InstanceId instance, SandboxId sandbox)
      implements HostProcess {}

  /**
   * A launcher.
   *
   * @param socket the path of its socket, in the data folder
   * @param owner the pid of the process that started it, which may have ended
   */
  record Launcher(AgentProcess process, Path socket, long owner) implements HostProcess {
    private static final Pattern SOCKET = Pattern.compile("/.*/bin/launch-([0-9]{1,18})-[0-9]+");

    /** Returns whether the owner lives; a process that started later has reused its pid. */
    boolean hasOwner() {
      return AgentProcess.startTimeOf(owner)
          .filter(start -> start <= process.startTime())
          .isPresent();
    }
  }

  /** Returns the processes of all installations. */
  static List<HostProcess> all() {
    List<HostProcess> found = new ArrayList<>();
    long self = ProcessHandle.current().pid();
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[1-9]*")) {
      for (Path folder : processes) {
        long pid = Long.parseLong(folder.getFileName().toString());
        Optional<Long> start = AgentProcess.startTimeOf(pid);
        if (pid != self && start.isPresent()) {
          recognize(folder, new AgentProcess(pid, start.get(), false)).ifPresent(found::add);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      throw new IllegalStateException("/proc cannot be listed", e);
    }
    return found;
  }

  private static Optional<HostProcess> recognize(Path folder, AgentProcess process) {
    List<String> words = words(folder.resolve("cmdline"));
    if (words.size() == 3 && words.get(1).equals("serve")) {
      Matcher socket = Launcher.SOCKET.matcher(words.get(2));
      if (socket.matches()) {
        return Optional.of(
            new Launcher(process, Path.of(words.get(2)), Long.parseLong(socket.group(1))));
      }
    }
    return ofSandbox(process, after(words, "--instance"), after(words, "--sandbox"))
        .or(
            () -> {
              List<String> variables = words(folder.resolve("environ"));
              return ofSandbox(
                  process,
                  variable(variables, "ISOLA_INSTANCE="),
                  variable(variables, "ISOLA_SANDBOX="));
            });
  }

  private static Optional<HostProcess> ofSandbox(
      AgentProcess process, String instance, String sandbox) {
    return SandboxId.isValid(instance) && SandboxId.isValid(sandbox)
        ? Optional.of(new OfSandbox(process, new InstanceId(instance), new SandboxId(sandbox)))
        : Optional.empty();
  }

  private static String after(List<String> words, String option) {
    int at = words.indexOf(option);
    return at >= 0 && at + 1 < words.size() ? words.get(at + 1) : "";
  }

  private static String variable(List<String> variables, String prefix) {
    return variables.stream()
        .filter(one -> one.startsWith(prefix))
        .findFirst()
        .map(one -> one.substring(prefix.length()))
        .orElse("");
  }

  private static List<String> words(Path file) {
    try {
      return Arrays.asList(
          new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).split("\0"));
    } catch (IOException goneOrNotOurs) {
      return List.of();
    }
  }
}
