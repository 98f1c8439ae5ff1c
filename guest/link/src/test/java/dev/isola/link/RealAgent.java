package dev.isola.link;

import static org.awaitility.Awaitility.await;

import dev.isola.codec.proc.ProcessStat;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import dev.isola.spi.capability.Attaching;
import dev.isola.spi.capability.Capability;
import dev.isola.spi.capability.PortDialing;
import dev.isola.spi.capability.Renewing;
import dev.isola.spi.capability.Terminals;
import dev.isola.spi.capability.UsageReporting;
import dev.isola.spi.capability.Watching;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/** The real C agent, detached on this machine and confined to its own folder. */
final class RealAgent implements AutoCloseable {
  static final Set<Class<? extends Capability>> ALL =
      Set.of(
          Attaching.class,
          Terminals.class,
          Watching.class,
          PortDialing.class,
          UsageReporting.class,
          Renewing.class);

  final SandboxId id = SandboxId.random(RandomGenerator.getDefault());
  final Secret secret = BootRecord.newSecret();
  final Path folder;
  final Path root;
  final Path socket;
  final long pid;
  final AgentSandbox sandbox;
  private final boolean dials;

  RealAgent() throws IOException {
    this(record -> record.linger(Duration.ofSeconds(20)));
  }

  RealAgent(UnaryOperator<BootRecord.Builder> more) throws IOException {
    this(more, false);
  }

  /** Starts an agent that dials the server instead of listening. */
  static RealAgent dialling() throws IOException {
    return new RealAgent(UnaryOperator.identity(), true);
  }

  private RealAgent(UnaryOperator<BootRecord.Builder> more, boolean dials) throws IOException {
    this.dials = dials;
    folder = Files.createTempDirectory("isola-link");
    root = Files.createDirectory(folder.resolve("root"));
    socket = folder.resolve("agent.sock");
    BootRecord.Builder record =
        BootRecord.builder(id, secret).confine(root, "/workspace").deadline(Duration.ofMinutes(5));
    if (!dials) {
      record.socket(socket);
    }
    pid = boot(more.apply(record).build());
    sandbox = connect(LinkTimeouts.DEFAULT);
  }

  /** Returns another handle with its own connection. */
  AgentSandbox connect(LinkTimeouts options) throws IOException {
    AgentEndpoint endpoint =
        dials
            ? UnixSocketAcceptor.bind(socket, path -> {}, this::alive)
            : new UnixSocketConnector(socket);
    return AgentSandbox.builder(id, endpoint, secret).capabilities(ALL).timeouts(options).build();
  }

  /** Reads /proc; a zombie counts as ended. */
  boolean alive() {
    return ProcessStat.read(Path.of("/proc/" + pid))
        .filter(process -> !process.isZombie())
        .isPresent();
  }

  private long boot(BootRecord record) throws IOException {
    Path binary =
        AgentBinary.install(Path.of(System.getProperty("java.io.tmpdir"), "isola-link-test"));
    List<String> words =
        new ArrayList<>(
            List.of(
                binary.toString(),
                "--boot-fd",
                "0",
                "--detach",
                "--instance",
                "test",
                "--sandbox",
                id.value()));
    if (dials) {
      words.addAll(List.of("--dial", "unix:" + socket));
    }
    Process process =
        new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    try (OutputStream out = process.getOutputStream()) {
      out.write(record.encode());
    }
    try (BufferedReader in = process.inputReader()) {
      String line = in.readLine();
      if (line == null || !line.startsWith("ready pid=")) {
        throw new IOException("the agent did not start: " + line);
      }
      return Long.parseLong(line.split("[= ]")[2]);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      if (alive()) {
        connect(LinkTimeouts.DEFAULT.withConnectTimeout(Duration.ofSeconds(1))).shutdown();
      }
      await().atMost(Duration.ofSeconds(10)).until(() -> !alive());
    } finally {
      if (alive()) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
      }
      sandbox.close();
      deleteTree(folder);
    }
  }

  static void deleteTree(Path tree) throws IOException {
    try (Stream<Path> paths = Files.walk(tree)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
