package dev.isola.integrations.adk;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.adk.agents.InvocationContext;
import com.google.adk.agents.LlmAgent;
import com.google.adk.artifacts.InMemoryArtifactService;
import com.google.adk.codeexecutors.CodeExecutionUtils.CodeExecutionInput;
import com.google.adk.codeexecutors.CodeExecutionUtils.CodeExecutionResult;
import com.google.adk.codeexecutors.CodeExecutionUtils.File;
import com.google.adk.events.Event;
import com.google.adk.runner.InMemoryRunner;
import com.google.adk.sessions.InMemorySessionService;
import com.google.adk.sessions.Session;
import com.google.genai.types.Content;
import com.google.genai.types.Part;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxSpec;
import dev.isola.integrations.tools.ToolOptions;
import dev.isola.testing.server.TestServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Agents of the kit with a scripted model and a server process. */
@Tag("all")
@Timeout(60)
class AdkExampleTest {
  private static Isola isola;

  @BeforeAll
  static void connect() {
    TestServer server = TestServer.shared();
    isola = Isola.connect(server.url(), server.key());
  }

  @AfterAll
  static void disconnect() {
    isola.close();
  }

  @AfterEach
  void nothingIsLeft() {
    assertThat(isola.list(SandboxFilter.ALL)).isEmpty();
  }

  private static InMemoryRunner runner(ScriptedLlm model, IsolaCodeExecutor executor) {
    return new InMemoryRunner(
        LlmAgent.builder().name("analyst").model(model).codeExecutor(executor).build());
  }

  private static Session session(InMemoryRunner runner, String user) {
    return runner.sessionService().createSession(runner.appName(), user).blockingGet();
  }

  /** Returns the last text of the agent. */
  private static String ask(InMemoryRunner runner, Session session, String question) {
    Event last =
        runner
            .runAsync(session.userId(), session.id(), Content.fromParts(Part.fromText(question)))
            .blockingLast();
    return last.stringifyContent();
  }

  @Test
  void agentRunsCodeAndReadsTheOutput() {
    ScriptedLlm model =
        new ScriptedLlm(
            "open('n', 'w').write('6 7')", "print(eval(open('n').read().replace(' ', '*')))");
    assertThat(AdkExample.chat(isola, model)).startsWith("The result: ").contains("42\n");
    assertThat(model.results).hasSize(2);
  }

  @Test
  void inputFilesAreWrittenToTheWorkingDirectoryOnly() {
    SandboxSpec unisolated = SandboxSpec.builder().provider("subprocess").build();
    try (IsolaCodeExecutor executor =
        IsolaCodeExecutor.creating(isola, ToolOptions.DEFAULT.withSpec(unisolated))) {
      InMemoryRunner runner = runner(new ScriptedLlm(), executor);
      Session session = session(runner, "anna");
      assertThat(execute(executor, session, "in.csv", "YSxi").stdout()).isEqualTo("a,b");
      assertThat(execute(executor, session, "../../in.csv", "YSxi").stderr())
          .startsWith("PATH_OUTSIDE: ");
    }
  }

  private static CodeExecutionResult execute(
      IsolaCodeExecutor executor, Session session, String name, String base64) {
    InvocationContext context =
        InvocationContext.builder()
            .session(session)
            .sessionService(new InMemorySessionService())
            .artifactService(new InMemoryArtifactService())
            .agent(LlmAgent.builder().name("analyst").build())
            .build();
    return executor.executeCode(
        context,
        CodeExecutionInput.builder()
            .code("print(open('in.csv').read(), end='')")
            .inputFiles(List.of(File.builder().name(name).content(base64).build()))
            .build());
  }

  @Test
  void failureReachesTheModelWithOutputAndExitCode() {
    ScriptedLlm model =
        new ScriptedLlm(
            "print('before')\nraise ValueError('wrong')",
            "import sys\nprint('warned', file=sys.stderr)\nprint('fine')");
    try (IsolaCodeExecutor executor = IsolaCodeExecutor.creating(isola, ToolOptions.DEFAULT)) {
      InMemoryRunner runner = runner(model, executor);
      ask(runner, session(runner, "anna"), "Go.");
    }
    assertThat(model.results.get(0)).contains("before", "ValueError: wrong", "[exit code 1]");
    assertThat(model.results.get(1))
        .contains("Code execution result:", "fine", "warned", "[exit code 0]");
  }

  @Test
  void hostileOutputIsBoundedPlainText() {
    ScriptedLlm model =
        new ScriptedLlm("import sys\nsys.stdout.buffer.write(b'\\x1b[31m\\xff' + b'x' * 3000000)");
    try (IsolaCodeExecutor executor = IsolaCodeExecutor.creating(isola, ToolOptions.DEFAULT)) {
      InMemoryRunner runner = runner(model, executor);
      ask(runner, session(runner, "anna"), "Go.");
    }
    assertThat(model.results.getFirst())
        .contains("\ufffdxxx", "is left out here: it has 3000006 bytes")
        .doesNotContain("\u001b")
        .hasSizeLessThan(34_000);
  }

  @Test
  void endlessProgramIsKilled() {
    ScriptedLlm model = new ScriptedLlm("while True: pass");
    ToolOptions options =
        ToolOptions.DEFAULT.withTimeout(Duration.ofSeconds(1), Duration.ofSeconds(1));
    try (IsolaCodeExecutor executor = IsolaCodeExecutor.creating(isola, options)) {
      InMemoryRunner runner = runner(model, executor);
      assertThat(ask(runner, session(runner, "anna"), "Go.")).contains("[killed: timeout of 1 s]");
    }
  }

  @Test
  void eachSessionHasItsOwnSandbox() {
    String list = "import os\nprint(os.listdir())";
    ScriptedLlm model = new ScriptedLlm("open('anna', 'w')");
    try (IsolaCodeExecutor executor = IsolaCodeExecutor.creating(isola, ToolOptions.DEFAULT)) {
      InMemoryRunner runner = runner(model, executor);
      Session anna = session(runner, "anna");
      ask(runner, anna, "Go.");
      InMemoryRunner other = runner(new ScriptedLlm(list), executor);
      assertThat(ask(other, session(other, "bert"), "Go.")).contains("[]");
      assertThat(isola.list(SandboxFilter.ALL)).hasSize(2);
      executor.endSession(anna);
      assertThat(isola.list(SandboxFilter.ALL)).hasSize(1);
    }
  }

  @Test
  void vanishedSandboxIsAnErrorThatTheModelReads() {
    ScriptedLlm model = new ScriptedLlm("print(1)");
    try (Sandbox sandbox = isola.create();
        IsolaCodeExecutor executor = IsolaCodeExecutor.in(sandbox, ToolOptions.DEFAULT)) {
      sandbox.destroy();
      InMemoryRunner runner = runner(model, executor);
      assertThat(ask(runner, session(runner, "anna"), "Go."))
          .contains("SANDBOX_", "Remedy: ")
          .doesNotContain(TestServer.shared().key());
    }
  }
}
