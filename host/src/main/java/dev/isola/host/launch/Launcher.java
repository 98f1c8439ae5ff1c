package dev.isola.host.launch;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.link.AgentAbsentException;
import dev.isola.link.AgentChannel;
import dev.isola.link.InstalledProgram;
import dev.isola.link.UnixSocketConnector;
import dev.isola.link.local.AgentProcess;
import dev.isola.link.local.AgentStarter;
import dev.isola.spi.InstanceId;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The launcher process, which listens on a socket and forks for each plan; that is faster than
 * starting a program. It exits with this process and is restarted on demand. If sandboxes it booted
 * are still running, a detached process waits for them to end and removes their control groups.
 */
public final class Launcher implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int MAX_ANSWER_LENGTH = 2048;
  private static final String PREFIX = "launch-";
  private static final AtomicInteger NUMBER = new AtomicInteger();

  private final InstalledProgram program;
  private final Path folder;
  private final InstanceId installation;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable Instance instance;

  /** A running launcher. */
  private record Instance(Process process, UnixSocketConnector socket) {}

  /**
   * @param folder the folder of its socket
   * @param installation the id that its environment carries, by which {@code isola purge}
   *     recognizes it; programs that it executes have an environment of their own
   */
  public Launcher(InstalledProgram program, Path folder, InstanceId installation) {
    this.program = program;
    this.folder = folder;
    this.installation = installation;
  }

  public Path path() {
    return program.path();
  }

  /**
   * Starts a process that waits for its plan. Closing the session cancels an unfinished boot.
   *
   * @throws IOException if the launcher cannot be reached
   */
  Session open() throws IOException {
    Instance current = instance;
    if (current != null) {
      try {
        return new Session(current.socket().open(TIMEOUT));
      } catch (AgentAbsentException ended) {
        // The launcher has exited and is restarted below.
      }
    }
    return new Session(start(current).socket().open(TIMEOUT));
  }

  /** Starts the process that will boot a sandbox. */
  public Session open(SandboxId id) {
    try {
      return open();
    } catch (IOException e) {
      throw AgentStarter.startFailed(id, "the launcher cannot be reached: " + e.getMessage(), e);
    }
  }

  /** Starts the launcher unless it is running. */
  public void ensureRunning() throws IOException {
    Instance current = instance;
    if (current == null || !current.process().isAlive()) {
      start(current);
    }
  }

  /** Executes a plan and returns the answer. */
  String execute(byte[] plan, Duration timeout) throws IOException {
    try (Session session = open()) {
      return session.execute(plan, timeout);
    }
  }

  private Instance start(@Nullable Instance previous) throws IOException {
    lock.lock();
    try {
      Instance current = instance;
      if (current != null && !current.equals(previous)) {
        return current; // another thread was faster
      }
      String executable = program.path().toString();
      removeStaleSockets();
      String name = PREFIX + ProcessHandle.current().pid() + "-" + NUMBER.incrementAndGet();
      Path socket = folder.resolve(name);
      UnixSocketConnector connector = new UnixSocketConnector(socket);
      ProcessBuilder builder = new ProcessBuilder(List.of(executable, "serve", socket.toString()));
      builder.environment().clear();
      builder.environment().put("ISOLA_INSTANCE", installation.value());
      builder.environment().put("PATH", HostProgram.searchPath()); // finds what health examined
      builder.directory(Path.of("/").toFile());
      builder.redirectErrorStream(true);
      Process process = builder.start();
      String line = readFirstLine(process);
      if (!line.equals("ready")) {
        process.destroyForcibly();
        throw new IOException(line.isEmpty() ? "the launcher exited without an answer" : line);
      }
      current = new Instance(process, connector);
      instance = current;
      return current;
    } finally {
      lock.unlock();
    }
  }

  private static String readFirstLine(Process process) throws IOException {
    BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    try (Timeout _ = new Timeout(TIMEOUT, process::destroyForcibly)) {
      return Optional.ofNullable(output.readLine()).orElse("");
    }
  }

  /** Runs an action after a timeout unless it is closed before. */
  private static final class Timeout implements AutoCloseable {
    private final CompletableFuture<Boolean> expiry = new CompletableFuture<>();

    Timeout(Duration timeout, Runnable end) {
      CompletableFuture<Void> _ =
          expiry.completeOnTimeout(true, timeout.toMillis(), TimeUnit.MILLISECONDS).thenRun(end);
    }

    boolean expired() {
      return expiry.isDone();
    }

    @Override
    public void close() {
      expiry.cancel(false);
    }
  }

  private void removeStaleSockets() throws IOException {
    try (DirectoryStream<Path> sockets = Files.newDirectoryStream(folder, PREFIX + "*")) {
      for (Path socket : sockets) {
        String owner = socket.getFileName().toString().split("-", -1)[1];
        if (!Files.isDirectory(Path.of("/proc", owner))) {
          Files.deleteIfExists(socket);
        }
      }
    }
  }

  /** A process that waits for a plan. */
  public static final class Session implements AutoCloseable {
    private final AgentChannel channel;

    private Session(AgentChannel channel) {
      this.channel = channel;
    }

    /**
     * Sends the plan and returns the answer; empty if the process exited without one.
     *
     * @throws SocketTimeoutException on timeout
     */
    String execute(byte[] plan, Duration timeout) throws IOException {
      try (Timeout deadline = new Timeout(timeout, channel::close)) {
        return exchange(plan, deadline, timeout);
      }
    }

    private String exchange(byte[] plan, Timeout deadline, Duration timeout) throws IOException {
      try {
        channel.write(ByteBuffer.allocate(4 + plan.length).putInt(plan.length).put(plan).flip());
        ByteBuffer in = ByteBuffer.allocate(MAX_ANSWER_LENGTH);
        while (in.hasRemaining() && channel.read(in) >= 0) {
          // Until the process has ended, which completes the line.
        }
        return new String(in.array(), 0, in.position(), UTF_8).strip();
      } catch (IOException e) {
        if (deadline.expired()) {
          throw new SocketTimeoutException("no answer within " + timeout.toMillis() + " ms");
        }
        throw e;
      }
    }

    /** Boots a sandbox and returns its agent once that is listening. */
    public AgentProcess boot(SandboxId id, byte[] plan, Duration timeout) {
      try {
        return AgentStarter.parse(execute(plan, timeout), id);
      } catch (SocketTimeoutException e) {
        throw AgentStarter.startTimedOut(id, timeout);
      } catch (ClosedByInterruptException e) {
        throw Fault.of(ErrorCode.CANCELLED, "the start was interrupted", "")
            .sandbox(id)
            .exception(e);
      } catch (IOException e) {
        throw AgentStarter.startFailed(
            id, "the plan cannot be sent to the launcher: " + e.getMessage(), e);
      }
    }

    @Override
    public void close() {
      channel.close();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      Instance current = instance;
      instance = null;
      if (current != null) {
        end(current.process());
      }
    } finally {
      lock.unlock();
    }
  }

  /** Stops a launcher by closing its standard input. */
  private static void end(Process process) {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
