package dev.isola.integrations.tools;

import dev.isola.client.Command;
import dev.isola.client.FileInfo;
import dev.isola.client.Isola;
import dev.isola.client.Ports;
import dev.isola.client.Sandbox;
import dev.isola.client.error.IsolaException;
import dev.isola.integrations.tools.ToolArguments.InvalidArguments;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Tools with which a model uses sandboxes: run commands and code, write, read and list files, and
 * get the address of a web server. An adapter passes {@link #definitions()} to its model and the
 * calls of the model to {@link #call}.
 *
 * <p>Each session, such as a conversation, has a sandbox of its own, which its first call creates;
 * or all use one sandbox that the caller owns. Closing the tools destroys what they created.
 * Thread-safe.
 */
public final class SandboxTools implements AutoCloseable {
  /** The names of all tools. */
  public static final Set<String> NAMES =
      Set.of("exec", "run_code", "write_file", "read_file", "list_files", "preview_url");

  private static final int MAX_LISTED = 500;

  /** A longer argument does not fit into the arguments of a Linux process. */
  private static final int MAX_CODE = 100_000;

  /** What precedes an offset is transferred and dropped. */
  private static final long MAX_OFFSET = 64L << 20;

  private static final Duration LINK_TTL = Duration.ofHours(1);

  private static final ToolParameter PATH =
      ToolParameter.required(
          "path",
          ToolParameter.Type.TEXT,
          "Absolute, or relative to the working directory of exec.");

  private record Tool(ToolDefinition definition, Action action) {}

  private interface Action {
    ToolResult call(Object session, ToolArguments arguments);
  }

  private final ToolOptions options;
  private final SandboxSessions sessions;
  private final Map<String, Tool> tools;

  private SandboxTools(SandboxSessions sessions, ToolOptions options) {
    this.options = options;
    this.sessions = sessions;
    this.tools =
        List.of(exec(), runCode(), writeFile(), readFile(), listFiles(), previewUrl()).stream()
            .filter(tool -> options.toolNames().contains(tool.definition().name()))
            .collect(Collectors.toUnmodifiableMap(t -> t.definition().name(), Function.identity()));
  }

  /** Returns tools that create a sandbox for each session and destroy it when they are closed. */
  public static SandboxTools creating(Isola isola, ToolOptions options) {
    return new SandboxTools(SandboxSessions.creating(isola, options), options);
  }

  /** Returns tools that all sessions use in this sandbox, which stays when they are closed. */
  public static SandboxTools in(Sandbox sandbox, ToolOptions options) {
    return new SandboxTools(SandboxSessions.of(sandbox, options), options);
  }

  /** Returns whether each session has a sandbox of its own. */
  public boolean createsSandboxes() {
    return sessions.createsSandboxes();
  }

  /** Returns what a model reads about the tools, in alphabetical order. */
  public List<ToolDefinition> definitions() {
    return tools.values().stream()
        .map(Tool::definition)
        .sorted(Comparator.comparing(ToolDefinition::name))
        .toList();
  }

  private Tool exec() {
    return new Tool(
        new ToolDefinition(
            "exec",
            "Run a shell command in an isolated Linux sandbox and wait until it exits. Returns its"
                + " output and exit code. Files stay from call to call. To keep a server running,"
                + " start it with: nohup COMMAND >log 2>&1 &",
            List.of(
                ToolParameter.required("command", ToolParameter.Type.TEXT, "For /bin/sh -c."),
                ToolParameter.optional("cwd", ToolParameter.Type.TEXT, "Working directory."),
                ToolParameter.optional("stdin", ToolParameter.Type.TEXT, "Standard input."),
                timeoutParameter())),
        (session, arguments) -> {
          Command shell = Command.shell(arguments.requiredText("command"));
          Command command =
              arguments
                  .text("cwd")
                  .map(shell::withCwd)
                  .orElse(shell)
                  .withTimeout(timeout(arguments));
          return ToolResult.of(run(session, command, arguments.text("stdin")).text());
        });
  }

  private ToolParameter timeoutParameter() {
    return ToolParameter.optional(
        "timeoutSeconds",
        ToolParameter.Type.INTEGER,
        "Kill it after this time. Default "
            + options.timeout().toSeconds()
            + ", at most "
            + options.maxTimeout().toSeconds()
            + ".");
  }

  private Duration timeout(ToolArguments arguments) {
    return Duration.ofSeconds(
        arguments.number(
            "timeoutSeconds", options.timeout().toSeconds(), 1, options.maxTimeout().toSeconds()));
  }

  private CommandResult run(Object session, Command command, Optional<String> stdin) {
    return sessions.use(
        session,
        sandbox ->
            CommandResult.of(
                stdin.isPresent() ? sandbox.exec(command, stdin.get()) : sandbox.exec(command),
                options.maxOutput()));
  }

  private Tool runCode() {
    List<String> names = options.languages().stream().map(CodeLanguage::name).toList();
    return new Tool(
        new ToolDefinition(
            "run_code",
            "Run a program in the sandbox and wait until it exits. Returns what it prints and its"
                + " exit code. Variables do not stay from call to call; files do.",
            List.of(
                ToolParameter.required("code", ToolParameter.Type.TEXT, "Source of the program."),
                new ToolParameter(
                    "language",
                    ToolParameter.Type.TEXT,
                    "Default " + names.getFirst() + ".",
                    false,
                    names),
                timeoutParameter())),
        (session, arguments) -> {
          CodeLanguage language =
              options.languages().stream()
                  .filter(one -> arguments.text("language").orElse(one.name()).equals(one.name()))
                  .findFirst()
                  .orElseThrow();
          String code = arguments.requiredText("code");
          if (code.length() > MAX_CODE) {
            throw new InvalidArguments(
                "'code' is longer than "
                    + MAX_CODE
                    + " characters; write it to a file and run that");
          }
          return ToolResult.of(run(session, language, code, timeout(arguments)).text());
        });
  }

  private CommandResult run(Object session, CodeLanguage language, String code, Duration timeout) {
    return run(session, Command.argv(language.argv(code)).withTimeout(timeout), Optional.empty());
  }

  /**
   * Runs code in the sandbox of a session and waits until it exits.
   *
   * @throws IsolaException if it could not be run; if the sandbox no longer exists, the next call
   *     creates another one
   */
  public CommandResult runCode(Object session, CodeLanguage language, String code) {
    return run(session, language, code, options.timeout());
  }

  /** Writes a file of the sandbox of a session. */
  public void writeFile(Object session, String path, InputStream content) {
    sessions.use(session, sandbox -> sandbox.files().write(path, content));
  }

  private Tool writeFile() {
    return new Tool(
        new ToolDefinition(
            "write_file",
            "Write a text file in the sandbox, replacing it and creating missing directories.",
            List.of(
                PATH,
                ToolParameter.required("content", ToolParameter.Type.TEXT, "The whole content."))),
        (session, arguments) -> {
          String path = arguments.requiredText("path");
          String content = arguments.requiredText("content");
          sessions.use(session, sandbox -> sandbox.files().write(path, content));
          int bytes = content.getBytes(StandardCharsets.UTF_8).length;
          return ToolResult.of("wrote " + bytes + " bytes to " + PlainText.line(path));
        });
  }

  private Tool readFile() {
    return new Tool(
        new ToolDefinition(
            "read_file",
            "Read a text file of the sandbox, at most "
                + options.maxOutput()
                + " bytes per call; the result says how to read on.",
            List.of(
                PATH,
                ToolParameter.optional(
                    "offset", ToolParameter.Type.INTEGER, "Byte offset. Default 0."))),
        (session, arguments) -> {
          String path = arguments.requiredText("path");
          long offset = arguments.number("offset", 0, 0, MAX_OFFSET);
          return sessions.use(session, sandbox -> read(sandbox, path, offset));
        });
  }

  private ToolResult read(Sandbox sandbox, String path, long offset) {
    Optional<FileExcerpt> excerpt;
    try (InputStream in = sandbox.files().read(path)) {
      excerpt = FileExcerpt.read(in, offset, options.maxOutput());
    } catch (IOException e) {
      return ToolResult.error(
          "READ_FAILED",
          PlainText.line(path) + " could not be read completely",
          "call the tool again");
    }
    return excerpt
        .map(part -> ToolResult.of(part.more() ? part.text() + continuation(part) : part.text()))
        .orElseGet(
            () ->
                ToolResult.error(
                    "NOT_TEXT",
                    PlainText.line(path) + " is not UTF-8 text",
                    "look at it with exec, for example: file PATH; od -c PATH | head"));
  }

  private static String continuation(FileExcerpt part) {
    return "\n[the file continues; read on with offset=" + part.end() + "]";
  }

  private Tool listFiles() {
    return new Tool(
        new ToolDefinition(
            "list_files",
            "List a directory of the sandbox: type, size in bytes and path of each entry.",
            List.of(
                ToolParameter.optional(
                    "path", ToolParameter.Type.TEXT, "Default: the working directory of exec."),
                ToolParameter.optional(
                    "depth", ToolParameter.Type.INTEGER, "Levels to list. Default 1."))),
        (session, arguments) -> {
          String path = arguments.text("path").filter(text -> !text.isEmpty()).orElse(".");
          int depth = (int) arguments.number("depth", 1, 1, 20);
          List<FileInfo> entries =
              sessions.use(session, sandbox -> sandbox.files().list(path, depth));
          return ToolResult.of(list(entries));
        });
  }

  private static String list(List<FileInfo> entries) {
    if (entries.isEmpty()) {
      return "the directory is empty";
    }
    String lines =
        entries.stream()
            .limit(MAX_LISTED)
            .map(
                entry ->
                    (entry.isFolder() ? "directory" : entry.type())
                        + " "
                        + entry.size()
                        + " "
                        + PlainText.line(entry.path())
                        + entry.linkTarget().map(to -> " -> " + PlainText.line(to)).orElse(""))
            .collect(Collectors.joining("\n"));
    int more = entries.size() - MAX_LISTED;
    return more <= 0
        ? lines
        : lines + "\n[" + more + " more entries are left out; list a subdirectory]";
  }

  private Tool previewUrl() {
    return new Tool(
        new ToolDefinition(
            "preview_url",
            "Get a link with which the user opens a web server of the sandbox in a browser. It is"
                + " valid for one hour.",
            List.of(
                ToolParameter.required(
                    "port", ToolParameter.Type.INTEGER, "Port on which the server listens."))),
        (session, arguments) -> {
          int port = (int) arguments.number("port", 0, 1, 65_535);
          return sessions.use(session, sandbox -> preview(sandbox.ports(), port));
        });
  }

  private static ToolResult preview(Ports ports, int port) {
    String url = ports.link(port, LINK_TTL).url();
    boolean silent = ports.get(port).listening().equals(Optional.of(false));
    return ToolResult.of(silent ? url + "\n[no process listens on port " + port + " yet]" : url);
  }

  /**
   * Executes a call of a model. A call that fails is a result too: the model reads what failed and
   * what it can do.
   *
   * @param session conversation that the call belongs to
   * @param arguments JSON object
   */
  public ToolResult call(Object session, String name, String arguments) {
    Tool tool = tools.get(name);
    if (tool == null) {
      return ToolResult.error(
          "TOOL_NOT_FOUND",
          "there is no such tool",
          "the tools are " + String.join(", ", tools.keySet().stream().sorted().toList()));
    }
    try {
      return tool.action().call(session, ToolArguments.parse(tool.definition(), arguments));
    } catch (InvalidArguments e) {
      return ToolResult.error(
          "INVALID_ARGUMENTS", e.problem(), "correct the arguments and call the tool again");
    } catch (IsolaException e) {
      return error(e);
    }
  }

  /** Returns the result for a failure. */
  public ToolResult error(IsolaException e) {
    return createsSandboxes() && SandboxSessions.isSandboxGone(e)
        ? ToolResult.error(
            e.code(),
            "the sandbox no longer exists, nor do its files and processes",
            "call the tool again, which creates a new, empty sandbox")
        : ToolResult.error(e);
  }

  /** Destroys the sandbox of a session, if it has one. A later call creates another one. */
  public void endSession(Object session) {
    sessions.close(session);
  }

  /** Destroys the sandboxes that these tools created. Idempotent. */
  @Override
  public void close() {
    sessions.close();
  }
}
