package dev.isola.provider.microvmctl;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.link.AgentBinary;
import dev.isola.link.AgentSandbox;
import dev.isola.link.BootRecord;
import dev.isola.link.LinkTimeouts;
import dev.isola.spi.InstanceId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import dev.isola.spi.spec.SandboxSpec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Brings the guest agent into a sandbox by the verbs of the contract: {@code write} uploads it,
 * {@code exec} starts it, and each connection is an {@code exec} that joins its standard streams to
 * the agent's socket. The {@code exec} that starts it becomes the first connection, because every
 * verb costs a process.
 */
final class AgentBoot {

  /** A connection costs a process of the controller, perhaps on another machine. */
  private static final LinkTimeouts TIMEOUTS =
      LinkTimeouts.DEFAULT
          .withConnectTimeout(Duration.ofSeconds(60))
          .withHandshakeTimeout(Duration.ofSeconds(30))
          .withKeepalive(Duration.ofSeconds(10), Duration.ofSeconds(30));

  /**
   * Starts the agent, which reads its boot record from standard input, prints a line and detaches;
   * then connects to it.
   */
  private static final String START =
      """
      chmod 700 "$1" && mkdir -p -- "$3" "$4" && "$1" --detach --instance "$2" --sandbox "$5" &&
        exec "$1" --bridge "$6"
      """;

  private static final String READY = "ready ";
  private static final int MAX_LINE = 4096;
  private static final Duration END = Duration.ofSeconds(5);

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

  /** Uploads and starts the agent. Returns the first connection to it. */
  ControllerProcess boot(SandboxSpec spec, VmRecord record, Supplier<Duration> remaining) {
    try (InputStream program = Files.newInputStream(AgentBinary.install(bin))) {
      controller.write(record.vm(), program(record), program, remaining.get());
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "the guest agent cannot be read: " + e.getMessage(),
              "check the data folder")
          .exception(e);
    }
    Duration left = remaining.get();
    ControllerProcess process =
        ControllerProcess.start(
            controller.command(),
            Controller.execLine(record.vm(), record.remaining(), start(spec, record)));
    AtomicReference<String> answer = new AtomicReference<>("");
    Thread greeting =
        Thread.ofVirtual()
            .name("microvmctl-boot")
            .start(() -> answer.set(greet(process, bootRecord(spec, record).encode())));
    boolean ready = false;
    try {
      if (!greeting.join(left)) {
        throw controller.errors().timeout("exec", left.toMillis(), process.error());
      }
      ready = answer.get().startsWith(READY);
      if (!ready) {
        throw failure(spec, process, answer.get());
      }
      return process;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw ControllerProcess.cancelled(e);
    } finally {
      if (!ready) {
        process.close();
      }
    }
  }

  private List<String> start(SandboxSpec spec, VmRecord record) {
    return List.of(
        "sh",
        "-c",
        START,
        "sh",
        program(record),
        instance.value(),
        spec.workspaceMount(),
        spec.workingFolder(),
        spec.id().value(),
        socket(record));
  }

  /** Sends the boot record and returns the first line of the answer, without what follows it. */
  private static String greet(ControllerProcess process, byte[] bootRecord) {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try {
      process.in().write(bootRecord);
      process.in().flush();
      for (int next = process.out().read();
          next >= 0 && next != '\n' && line.size() < MAX_LINE;
          next = process.out().read()) {
        line.write(next);
      }
    } catch (IOException e) {
      // The process has ended; its exit code and its output tell why.
    }
    return line.toString(UTF_8);
  }

  private SandboxException failure(SandboxSpec spec, ControllerProcess process, String line) {
    if (process.await(END) && ControllerErrors.reported(process.error()).isPresent()) {
      return controller.errors().of("exec", process.exitCode(), process.error());
    }
    return Fault.of(
            ErrorCode.SPAWN_FAILED,
            "the guest agent did not start in the sandbox: "
                + ControllerErrors.text(line + " " + process.error()),
            "its machine must be Linux of this machine's processor, with sh, chmod and mkdir;"
                + " otherwise set providers."
                + MicrovmctlDescription.NAME
                + ".agent: false")
        .sandbox(spec.id())
        .exception();
  }

  private BootRecord bootRecord(SandboxSpec spec, VmRecord record) {
    Map<String, String> env = new LinkedHashMap<>();
    env.put("LANG", "C.UTF-8");
    env.put("ISOLA_SANDBOX", spec.id().value());
    env.put("ISOLA_INSTANCE", instance.value());
    env.putAll(spec.environment());
    BootRecord.Builder boot =
        BootRecord.builder(spec.id(), record.secret())
            .socket(Path.of(socket(record)))
            .cwd(spec.workingFolder())
            .workspace(Optional.of(spec.workspaceMount()))
            .env(env)
            .fileDescriptors(spec.limits().fileDescriptors());
    spec.deadline().ifPresent(boot::deadline);
    return boot.build();
  }

  /**
   * Connects to an agent.
   *
   * @param exists returns false if the sandbox was destroyed, perhaps by another process
   * @param first a connection that is open already; null if there is none
   */
  AgentSandbox sandbox(VmRecord record, BooleanSupplier exists, @Nullable ControllerProcess first) {
    return AgentSandbox.builder(
            record.id(), new ExecConnector(controller, record, exists, first), record.secret())
        .capabilities(MicrovmctlDescription.capabilities(true))
        .commandTimeout(record.timeout())
        .timeouts(TIMEOUTS)
        .build();
  }
}
