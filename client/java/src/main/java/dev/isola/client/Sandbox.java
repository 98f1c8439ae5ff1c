package dev.isola.client;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A sandbox of a server. Only a handle: making one asks nothing, and the sandbox lives until it is
 * destroyed or its time is up.
 */
public final class Sandbox {
  /** Pausing, resuming and destroying wait for processes. */
  private static final Duration LONG = Duration.ofMinutes(5);

  /** How long a command without a timeout is waited for. */
  private static final Duration LONGEST_EXEC = Duration.ofHours(1);

  private static final Duration GRACE = Duration.ofSeconds(30);

  private final Transport transport;
  private final ApiPath address;
  private final String id;

  Sandbox(Transport transport, String id) {
    this.transport = transport;
    this.id = id;
    this.address = ApiPath.of("sandboxes", id);
  }

  public String id() {
    return id;
  }

  public SandboxInfo info() {
    return SandboxInfo.read(transport.get(address));
  }

  /** Runs a command by {@code /bin/sh -c} and waits for its end. */
  public ExecResult exec(String command) {
    return exec(Command.shell(command));
  }

  /**
   * Runs a command and waits for its end. It is killed when the connection breaks, and never tried
   * again by the SDK. For more than an hour, or output of more than a mebibyte, use {@link #start}.
   */
  public ExecResult exec(Command command) {
    return exec(command.document(), command);
  }

  /** Runs a command with {@code stdin} as its input. */
  public ExecResult exec(Command command, String stdin) {
    Map<String, Object> body = command.document();
    body.put("stdin", stdin);
    return exec(body, command);
  }

  private ExecResult exec(Map<String, Object> body, Command command) {
    Duration timeout = command.timeout().map(time -> time.plus(GRACE)).orElse(LONGEST_EXEC);
    return ExecResult.read(transport.post(address.resolve("exec"), body, timeout));
  }

  /** Starts a command in the background, without input. */
  public Execution start(Command command) {
    return start(command, false);
  }

  /**
   * Starts a command in the background.
   *
   * @param stdin whether its input stays open, for {@link Execution#stdin()}
   */
  public Execution start(Command command, boolean stdin) {
    Map<String, Object> body = command.document();
    body.put("stdin", stdin);
    JsonFields answer = transport.post(address.resolve("executions"), body);
    return execution(answer.text("id"), 0);
  }

  /** Finds a command in the background again; its output begins at {@code offset}. */
  public Execution execution(String execution, long offset) {
    return new Execution(transport, address, execution, offset);
  }

  public List<ExecutionInfo> executions() {
    return transport.get(address.resolve("executions")).list("executions").stream()
        .map(ExecutionInfo::read)
        .toList();
  }

  /** Starts a command on a terminal. */
  public Terminal terminal(Command command, int rows, int cols) {
    Map<String, Object> body = new HashMap<>(command.document());
    body.put("terminal", Map.of("rows", rows, "cols", cols));
    return attach(transport.post(address.resolve("executions"), body).text("id"), 0);
  }

  /** Comes back to a command on a terminal; its screen begins at {@code offset}. */
  public Terminal attach(String execution, long offset) {
    return new Terminal(transport, address, execution, offset);
  }

  public Files files() {
    return new Files(transport, address);
  }

  public Ports ports() {
    return new Ports(transport, address);
  }

  /**
   * Takes a snapshot of its files; {@code snapshot:ID} is an image then.
   *
   * @param options tags, path, include and exclude as the API has them; none of them is needed
   */
  public SnapshotInfo snapshot(Map<String, Object> options) {
    return SnapshotInfo.read(transport.post(address.resolve("snapshots"), options, LONGEST_EXEC));
  }

  /**
   * Makes sandboxes with the files this one has now; their processes begin anew.
   *
   * @return for each the sandbox, or why there is none
   */
  public List<Fork> fork(int count) {
    return fork(count, "filesystem");
  }

  /**
   * Makes sandboxes that begin with what this one has now.
   *
   * @param kind {@code filesystem}: processes begin anew; {@code memory}, which every server
   *     refuses until a provider can
   * @return for each the sandbox, or why there is none
   */
  public List<Fork> fork(int count, String kind) {
    JsonFields answer =
        transport.post(address.resolve("fork"), Map.of("count", count, "kind", kind), LONGEST_EXEC);
    String had = answer.text("kind");
    return answer.list("forks").stream().map(fork -> Fork.read(had, fork)).toList();
  }

  /** Lets it live that long from now. */
  public SandboxInfo renew(Duration ttl) {
    return SandboxInfo.read(
        transport.post(address.resolve("renew"), Map.of("ttlSeconds", ttl.toSeconds())));
  }

  /** Freezes it with its processes in memory. */
  public SandboxInfo pause() {
    return SandboxInfo.read(transport.post(address.resolve("pause"), Map.of(), LONG));
  }

  /** Ends its processes and keeps its files. */
  public SandboxInfo stop() {
    return SandboxInfo.read(transport.post(address.resolve("stop"), Map.of(), LONG));
  }

  /** Makes it run again. */
  public SandboxInfo resume() {
    return SandboxInfo.read(transport.post(address.resolve("resume"), Map.of(), LONG));
  }

  public Usage usage() {
    return Usage.read(transport.get(address.resolve("usage")));
  }

  /** Destroys it; returns when nothing is left. Once more does no harm. */
  public void destroy() {
    destroy(false);
  }

  /**
   * @param force do not spare unsaved work
   */
  public void destroy(boolean force) {
    transport.delete(force ? address.query("force", true) : address, LONG);
  }

  @Override
  public String toString() {
    return "Sandbox[" + id + "]";
  }
}
