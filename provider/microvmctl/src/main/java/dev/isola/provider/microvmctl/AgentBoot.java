package dev.isola.provider.microvmctl;

import dev.isola.link.AgentBinary;
import dev.isola.link.AgentSandbox;
import dev.isola.link.BootRecord;
import dev.isola.link.LinkTimeouts;
import dev.isola.spi.InstanceId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.spec.SandboxSpec;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Brings the guest agent into a sandbox by the verbs of the contract: {@code write} uploads it,
 * {@code exec} starts it, and each connection is an {@code exec} that joins its standard streams to
 * the agent's socket.
 */
final class AgentBoot {
  private static final int RLIMIT_NOFILE = 7;

  /** A connection costs a process of the controller, perhaps on another machine. */
  private static final LinkTimeouts TIMEOUTS =
      LinkTimeouts.DEFAULT
          .withConnectTimeout(Duration.ofSeconds(60))
          .withHandshakeTimeout(Duration.ofSeconds(30))
          .withKeepalive(Duration.ofSeconds(10), Duration.ofSeconds(30));

  /** Starts the agent, which reads its boot record from standard input. */
  private static final String START =
      """
      chmod 700 "$1" && mkdir -p -- "$3" "$4" && exec "$1" --detach --instance "$2" --sandbox "$5"
      """;

  private final Controller controller;
  private final InstanceId instance;
  private final Path bin;

  AgentBoot(Controller controller, InstanceId instance, Path bin) {
    this.controller = controller;
    this.instance = instance;
    this.bin = bin;
  }

  private static String folder(VmRecord record) {
    return "/tmp/." + record.vm();
  }

  static String program(VmRecord record) {
    return folder(record) + "/agent";
  }

  static String socket(VmRecord record) {
    return folder(record) + "/socket";
  }

  /** Uploads and starts the agent. Returns when it listens. */
  void boot(SandboxSpec spec, VmRecord record, Supplier<Duration> remaining) {
    try (InputStream program = Files.newInputStream(AgentBinary.install(bin))) {
      controller.write(record.vm(), program(record), program, remaining.get());
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the guest agent cannot be read: " + e.getMessage(),
              "check the data folder")
          .exception(e);
    }
    Controller.Result result =
        controller.exec(
            record.vm(),
            remaining.get(),
            bootRecord(spec, record).encode(),
            List.of(
                "sh",
                "-c",
                START,
                "sh",
                program(record),
                instance.value(),
                spec.workspaceMount(),
                spec.workingFolder(),
                spec.id().value()));
    if (result.exitCode() != 0 || !result.text().startsWith("ready ")) {
      if (ControllerErrors.reported(result.error()).isPresent()) {
        throw controller.errors().of("exec", result.exitCode(), result.error());
      }
      throw Fault.of(
              ErrorCode.SPAWN_FAILED,
              "the guest agent did not start in the sandbox: "
                  + ControllerErrors.text(result.text() + " " + result.error()),
              "its machine must be Linux of this machine's processor, with sh, chmod and mkdir;"
                  + " otherwise set providers."
                  + MicrovmctlDescription.NAME
                  + ".agent: false")
          .sandbox(spec.id())
          .exception();
    }
  }

  private BootRecord bootRecord(SandboxSpec spec, VmRecord record) {
    Map<String, String> env = new LinkedHashMap<>();
    env.put("LANG", "C.UTF-8");
    env.put("ISOLA_SANDBOX", spec.id().value());
    env.put("ISOLA_INSTANCE", instance.value());
    env.putAll(spec.environment());
    int descriptors = spec.limits().fileDescriptors();
    BootRecord.Builder boot =
        BootRecord.builder(spec.id(), record.secret())
            .socket(Path.of(socket(record)))
            .cwd(spec.workingFolder())
            .workspace(Optional.of(spec.workspaceMount()))
            .env(env)
            .rlimit(RLIMIT_NOFILE, descriptors, descriptors);
    spec.deadline().ifPresent(boot::deadline);
    return boot.build();
  }

  AgentSandbox sandbox(VmRecord record) {
    return AgentSandbox.builder(record.id(), new ExecConnector(controller, record), record.secret())
        .capabilities(MicrovmctlDescription.capabilities(true))
        .commandTimeout(record.timeout())
        .timeouts(TIMEOUTS)
        .build();
  }
}
