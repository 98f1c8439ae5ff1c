package dev.isola.client;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Handle to a sandbox on a server. Creating a handle sends no request. The sandbox exists until it
 * is destroyed or expires, independently of the handle.
 */
public final class Sandbox {
  /** Timeout for operations that wait for processes: pause, resume, destroy. */
  private static final Duration SLOW_TIMEOUT = Duration.ofMinutes(5);

  /** Maximum wait for a command without a timeout. */
  private static final Duration MAX_EXEC = Duration.ofHours(1);

  private static final Duration GRACE = Duration.ofSeconds(30);

  private final Transport transport;
  private final ApiPath endpoint;
  private final String id;

  Sandbox(Transport transport, String id) {
    this.transport = transport;
    this.id = id;
    this.endpoint = ApiPath.of("sandboxes", id);
  }

  public String id() {
    return id;
  }

  public SandboxInfo info() {
    return SandboxInfo.read(transport.get(endpoint));
  }

  /** Runs a command with {@code /bin/sh -c} and waits until it exits. */
  public ExecResult exec(String command) {
    return exec(Command.shell(command));
  }

  /**
   * Runs a command and waits until it exits. The command is killed if the connection breaks, and is
   * never retried. For commands that run longer than an hour or write more than 1 MiB, use {@link
   * #start}.
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
    return new Ports(transport, endpoint);
  }

  /**
   * Takes a snapshot of the files. The image {@code snapshot:ID} restores it.
   *
   * @param options tags, scope, path, include and exclude as in the API; all are optional
   */
  public SnapshotInfo snapshot(Map<String, Object> options) {
    return SnapshotInfo.read(transport.post(endpoint.resolve("snapshots"), options, MAX_EXEC));
  }

  /**
   * Creates sandboxes with a copy of this sandbox's current files. Processes are not copied.
   *
   * @return the created sandbox or an error, for each fork
   */
  public List<Fork> fork(int count) {
    return fork(count, "filesystem");
  }

  /**
   * Creates sandboxes with a copy of this sandbox's current state.
   *
   * @param kind {@code filesystem} copies files only; {@code memory} is rejected, because no
   *     provider supports it
   * @return the created sandbox or an error, for each fork
   */
  public List<Fork> fork(int count, String kind) {
    JsonFields response =
        transport.post(endpoint.resolve("fork"), Map.of("count", count, "kind", kind), MAX_EXEC);
    String copied = response.text("kind");
    return response.list("forks").stream().map(fork -> Fork.read(copied, fork)).toList();
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
    transport.delete(force ? endpoint.query("force", true) : endpoint, SLOW_TIMEOUT);
  }

  @Override
  public String toString() {
    return "Sandbox[" + id + "]";
  }
}
