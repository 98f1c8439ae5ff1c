package dev.isola.client;

import dev.isola.client.error.DeadlineExceeded;
import dev.isola.client.error.Gone;
import dev.isola.client.error.IsolaException;
import dev.isola.client.error.NotFound;
import dev.isola.client.error.Problem;
import dev.isola.codec.time.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Handle to a sandbox on a server.
 *
 * <p>A handle that created its sandbox ({@link Isola#create}, {@link #fork()}, {@link
 * Snapshots#restore}) destroys it on {@link #close()}, unless {@link #detach()} was called. A
 * handle from {@link Isola#sandbox} leaves it running, unless {@link #destroyOnClose()} was called.
 * A sandbox whose handle is never closed exists until it is destroyed or expires.
 *
 * <pre>{@code
 * try (Sandbox sandbox = isola.create(SandboxSpec.DEFAULT)) {
 *   System.out.print(sandbox.exec("uname -a").stdout());
 * }
 * }</pre>
 */
public final class Sandbox implements AutoCloseable {
  /** Timeout for operations that wait for processes: pause, resume, destroy. */
  private static final Duration SLOW_TIMEOUT = Duration.ofMinutes(5);

  /** Maximum wait for a command without a timeout. */
  private static final Duration MAX_EXEC = Duration.ofHours(1);

  /** The longest time for which one request waits for a state. */
  private static final Duration MAX_POLL = Duration.ofSeconds(30);

  private static final Duration GRACE = Duration.ofSeconds(30);

  private final Transport transport;
  private final ApiPath endpoint;
  private final String id;
  private volatile boolean destroyOnClose;

  private Sandbox(Transport transport, String id, boolean destroyOnClose) {
    this.transport = transport;
    this.id = id;
    this.endpoint = ApiPath.of("sandboxes", id);
    this.destroyOnClose = destroyOnClose;
  }

  /** Returns a handle to a sandbox that this client created, and destroys on close. */
  static Sandbox created(Transport transport, String id) {
    return new Sandbox(transport, id, true);
  }

  /** Returns a handle to an existing sandbox, which stays on close. */
  static Sandbox existing(Transport transport, String id) {
    return new Sandbox(transport, id, false);
  }

  public String id() {
    return id;
  }

  public SandboxInfo info() {
    return SandboxInfo.read(transport.get(endpoint));
  }

  /**
   * Returns the state, health, usage and latest errors. Neither resumes the sandbox nor counts as
   * use of it.
   */
  public SandboxStatus status() {
    return SandboxStatus.read(transport.get(endpoint.resolve("status")));
  }

  /**
   * Waits until the sandbox is in a state: creating, running, paused, stopped, error, terminating
   * or destroyed.
   *
   * @throws dev.isola.client.error.DeadlineExceeded if it is not within {@code timeout}
   * @throws dev.isola.client.error.Conflict at once if it can no longer reach the state
   */
  public SandboxInfo awaitState(String state, Duration timeout) {
    return awaitState(List.of(state), timeout);
  }

  /** Waits until the sandbox is in one of the states; see {@link #awaitState(String, Duration)}. */
  public SandboxInfo awaitState(List<String> states, Duration timeout) {
    Deadline deadline = Deadline.in(timeout);
    ApiPath wait = endpoint.resolve("wait").query("state", states);
    while (true) {
      long left = Math.max(0, deadline.leftNanos());
      Duration poll = Duration.ofNanos(Math.min(left, MAX_POLL.toNanos()));
      try {
        return SandboxInfo.read(
            transport.get(wait.query("timeoutMs", poll.toMillis()), poll.plus(GRACE)));
      } catch (DeadlineExceeded e) {
        if (left <= MAX_POLL.toNanos()) {
          throw e;
        }
      }
    }
  }

  /**
   * Passes new events of a type of this sandbox to a handler, until the result or the client is
   * closed; see {@link Isola#on(String, Consumer)}.
   */
  public EventSubscription on(String type, Consumer<EventStream.Event> handler) {
    return EventSubscription.start(transport, EventFilter.ALL.type(type).sandbox(id), handler);
  }

  /** Runs a command with {@code /bin/sh -c} and waits until it exits. */
  public ExecResult exec(String command) {
    return exec(Command.shell(command));
  }

  /**
   * Runs a command and waits until it exits. The command is killed if the connection breaks, and is
   * never retried. For commands that run longer than an hour, write more than 1 MiB, or whose
   * output is needed while they run, use {@link #start}.
   */
  public ExecResult exec(Command command) {
    return exec(command.document(), command);
  }

  /** Runs a command with {@code stdin} as its standard input and waits until it exits. */
  public ExecResult exec(Command command, String stdin) {
    Map<String, Object> body = command.document();
    body.put("stdin", stdin);
    return exec(body, command);
  }

  private ExecResult exec(Map<String, Object> body, Command command) {
    Duration timeout = command.timeout().map(time -> time.plus(GRACE)).orElse(MAX_EXEC);
    return ExecResult.read(transport.post(endpoint.resolve("exec"), body, timeout));
  }

  /** Starts a command in the background, without standard input. */
  public Execution start(Command command) {
    return start(command, false);
  }

  /**
   * Starts a command in the background.
   *
   * @param stdin whether its standard input stays open, for {@link Execution#stdin()}
   */
  public Execution start(Command command, boolean stdin) {
    Map<String, Object> body = command.document();
    body.put("stdin", stdin);
    JsonFields response = transport.post(endpoint.resolve("executions"), body);
    return execution(response.text("id"), 0);
  }

  /** Returns a handle to an execution; its output starts at {@code offset}. */
  public Execution execution(String execution, long offset) {
    return new Execution(transport, endpoint, execution, offset);
  }

  public List<ExecutionInfo> executions() {
    return transport.get(endpoint.resolve("executions")).list("executions").stream()
        .map(ExecutionInfo::read)
        .toList();
  }

  /** Starts a command on a terminal. */
  public Terminal terminal(Command command, int rows, int cols) {
    Map<String, Object> body = new HashMap<>(command.document());
    body.put("terminal", Map.of("rows", rows, "cols", cols));
    return attach(transport.post(endpoint.resolve("executions"), body).text("id"), 0);
  }

  /** Attaches to a command on a terminal; its output starts at {@code offset}. */
  public Terminal attach(String execution, long offset) {
    return new Terminal(transport, endpoint, execution, offset);
  }

  public Files files() {
    return new Files(transport, endpoint);
  }

  public Ports ports() {
    return new Ports(transport, this, endpoint);
  }

  /**
   * Watches a folder for changes. Returns once the watch is established: later changes are
   * reported.
   *
   * @param recursive whether to include subfolders
   */
  public FileWatch watch(String path, boolean recursive) {
    return FileWatch.open(
        transport, endpoint.resolve("watch").query("path", path).query("recursive", recursive));
  }

  /**
   * Takes a snapshot of everything that the sandbox wrote. {@link Snapshots#restore} restores it.
   */
  public SnapshotInfo snapshot() {
    return snapshot(SnapshotOptions.EVERYTHING);
  }

  public SnapshotInfo snapshot(SnapshotOptions options) {
    return SnapshotInfo.read(
        transport.post(endpoint.resolve("snapshots"), options.document(), MAX_EXEC));
  }

  /** Creates a sandbox with a copy of this sandbox's current files. Processes are not copied. */
  public Sandbox fork() {
    return fork(1).getFirst();
  }

  /**
   * Creates sandboxes with a copy of this sandbox's current files. Processes are not copied. If one
   * of the forks fails, the others are destroyed and its error is thrown; {@link #forkEach} returns
   * the result of each.
   */
  public List<Sandbox> fork(int count) {
    return fork(ForkOptions.filesystem().count(count));
  }

  /**
   * Forks this sandbox. If one of the forks fails, the others are destroyed and its error is
   * thrown; {@link #forkEach} returns the result of each.
   *
   * @throws dev.isola.client.error.Unsupported if the provider does not support this kind of fork
   * @throws dev.isola.client.error.Conflict if the memory of a sandbox with secret variables is
   *     requested without {@link ForkOptions#allowingSecrets}, or cannot be saved
   */
  public List<Sandbox> fork(ForkOptions options) {
    List<Fork> forks = forkEach(options);
    List<Sandbox> created = new ArrayList<>();
    Optional<Problem> failure = Optional.empty();
    for (Fork fork : forks) {
      fork.sandbox().ifPresent(info -> created.add(Sandbox.created(transport, info.id())));
      failure = failure.or(fork::error);
    }
    if (failure.isPresent()) {
      throw destroyAll(created, failure.get().exception());
    }
    return List.copyOf(created);
  }

  private static IsolaException destroyAll(List<Sandbox> sandboxes, IsolaException failure) {
    for (Sandbox sandbox : sandboxes) {
      try {
        sandbox.close();
      } catch (IsolaException e) {
        failure.addSuppressed(e);
      }
    }
    return failure;
  }

  /**
   * Forks this sandbox and returns for each fork the created sandbox or the error.
   *
   * @throws dev.isola.client.error.Unsupported as {@link #fork(ForkOptions)} does
   */
  public List<Fork> forkEach(ForkOptions options) {
    JsonFields response = transport.post(endpoint.resolve("fork"), options.document(), MAX_EXEC);
    String copied = response.text("kind");
    return response.list("forks").stream().map(fork -> Fork.read(copied, fork)).toList();
  }

  /**
   * Creates a token that is limited to this sandbox, for a client without a key.
   *
   * @param scope {@code use} for everything in the sandbox, {@code preview} for its ports
   * @param ttl at most 30 days; the token also ends with the sandbox
   */
  public SandboxToken token(String scope, Duration ttl) {
    return SandboxToken.read(
        transport.post(
            endpoint.resolve("tokens"), Map.of("scope", scope, "ttlSeconds", ttl.toSeconds())));
  }

  /** Sets the expiry to {@code ttl} from now. */
  public SandboxInfo renew(Duration ttl) {
    return SandboxInfo.read(
        transport.post(endpoint.resolve("renew"), Map.of("ttlSeconds", ttl.toSeconds())));
  }

  /** Suspends all processes and keeps them in memory. */
  public SandboxInfo pause() {
    return SandboxInfo.read(transport.post(endpoint.resolve("pause"), Map.of(), SLOW_TIMEOUT));
  }

  /** Ends all processes and keeps the files. */
  public SandboxInfo stop() {
    return SandboxInfo.read(transport.post(endpoint.resolve("stop"), Map.of(), SLOW_TIMEOUT));
  }

  /** Resumes a paused or stopped sandbox. */
  public SandboxInfo resume() {
    return SandboxInfo.read(transport.post(endpoint.resolve("resume"), Map.of(), SLOW_TIMEOUT));
  }

  /** Returns the hosts that the sandbox reaches; it must be in network mode filtered. */
  public Egress egress() {
    return new Egress(transport, endpoint.resolve("egress"));
  }

  public Usage usage() {
    return Usage.read(transport.get(endpoint.resolve("usage")));
  }

  /** Destroys the sandbox and returns when nothing is left of it. Idempotent. */
  public void destroy() {
    destroy(false);
  }

  /**
   * Destroys the sandbox and returns when nothing is left of it. Idempotent.
   *
   * @param force destroy it even if it contains unsaved work
   */
  public void destroy(boolean force) {
    destroy(force ? DestroyOptions.DEFAULT.forced() : DestroyOptions.DEFAULT);
  }

  /**
   * Destroys the sandbox and returns when nothing is left of it. Idempotent.
   *
   * @throws DeadlineExceeded if it still exists after the timeout of {@code options}; the server
   *     continues to destroy it, and {@link #awaitState} waits for {@code destroyed}
   */
  public void destroy(DestroyOptions options) {
    ApiPath path = options.force() ? endpoint.query("force", true) : endpoint;
    Duration timeout = options.timeout().map(time -> time.plus(GRACE)).orElse(SLOW_TIMEOUT);
    transport.delete(
        options.timeout().map(time -> path.query("timeoutMs", time.toMillis())).orElse(path),
        timeout);
  }

  /** Makes {@link #close()} leave the sandbox running. Returns this handle. */
  public Sandbox detach() {
    destroyOnClose = false;
    return this;
  }

  /** Makes {@link #close()} destroy the sandbox. Returns this handle. */
  public Sandbox destroyOnClose() {
    destroyOnClose = true;
    return this;
  }

  /**
   * Destroys the sandbox if this handle created it and was not detached; otherwise does nothing.
   * Does not fail if the sandbox no longer exists, and works on an interrupted thread. Idempotent.
   *
   * @throws IsolaException if the sandbox could not be destroyed; a second call tries again
   */
  @Override
  public void close() {
    if (!destroyOnClose) {
      return;
    }
    // An interrupted thread cannot send a request, and the sandbox would be left behind.
    boolean interrupted = Thread.interrupted();
    try {
      destroy();
    } catch (NotFound | Gone e) {
      // It is destroyed already.
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    destroyOnClose = false;
  }

  @Override
  public String toString() {
    return "Sandbox[" + id + "]";
  }
}
