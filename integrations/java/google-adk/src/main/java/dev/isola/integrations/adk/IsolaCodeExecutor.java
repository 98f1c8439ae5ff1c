package dev.isola.integrations.adk;

import com.google.adk.agents.InvocationContext;
import com.google.adk.codeexecutors.BaseCodeExecutor;
import com.google.adk.codeexecutors.CodeExecutionUtils.CodeExecutionInput;
import com.google.adk.codeexecutors.CodeExecutionUtils.CodeExecutionResult;
import com.google.adk.codeexecutors.CodeExecutionUtils.File;
import com.google.adk.sessions.Session;
import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.error.IsolaException;
import dev.isola.integrations.tools.CodeLanguage;
import dev.isola.integrations.tools.CommandResult;
import dev.isola.integrations.tools.SandboxTools;
import dev.isola.integrations.tools.ToolOptions;
import java.io.ByteArrayInputStream;
import java.util.Base64;
import java.util.List;

/**
 * Runs the Python code that an agent writes in a sandbox. Each session has a sandbox of its own,
 * which its first execution creates; closing the executor destroys them. Files stay from execution
 * to execution, variables do not.
 *
 * <pre>{@code
 * try (IsolaCodeExecutor executor = IsolaCodeExecutor.creating(isola, ToolOptions.DEFAULT)) {
 *   LlmAgent agent = LlmAgent.builder().name("analyst").model(model).codeExecutor(executor).build();
 *   ...
 * }
 * }</pre>
 */
public final class IsolaCodeExecutor extends BaseCodeExecutor implements AutoCloseable {
  private final SandboxTools tools;

  private IsolaCodeExecutor(SandboxTools tools) {
    this.tools = tools;
  }

  /** Returns an executor that creates a sandbox for each session. */
  public static IsolaCodeExecutor creating(Isola isola, ToolOptions options) {
    return new IsolaCodeExecutor(SandboxTools.creating(isola, options));
  }

  /** Returns an executor that uses one sandbox for all sessions and leaves it running on close. */
  public static IsolaCodeExecutor in(Sandbox sandbox, ToolOptions options) {
    return new IsolaCodeExecutor(SandboxTools.in(sandbox, options));
  }

  /**
   * Writes the input files to the working directory and runs the code. The kit shows a model either
   * the standard output, or the standard error as a failure; so what a successful program wrote to
   * its standard error is part of the output, and what a failed one printed is part of the error.
   */
  @Override
  public CodeExecutionResult executeCode(InvocationContext context, CodeExecutionInput input) {
    Object session = key(context.session());
    try {
      for (File file : input.inputFiles()) {
        byte[] content = Base64.getMimeDecoder().decode(file.content());
        tools.writeFile(session, file.name(), new ByteArrayInputStream(content));
      }
      CommandResult result = tools.runCode(session, CodeLanguage.PYTHON, input.code());
      return result.isSuccess() ? succeeded(result) : failed(result.text());
    } catch (IsolaException e) {
      return failed(tools.error(e).text());
    } catch (IllegalArgumentException e) {
      return failed("an input file is not base64");
    }
  }

  private static CodeExecutionResult succeeded(CommandResult result) {
    return CodeExecutionResult.builder()
        .stdout(result.stderr().isEmpty() ? result.stdout() : result.text())
        .build();
  }

  private static CodeExecutionResult failed(String text) {
    return CodeExecutionResult.builder().stderr(text).build();
  }

  private static Object key(Session session) {
    return List.of(session.appName(), session.userId(), session.id());
  }

  /** Destroys the sandbox of a session, if it has one. A later execution creates another one. */
  public void endSession(Session session) {
    tools.endSession(key(session));
  }

  /** Destroys the sandboxes that this executor created. Idempotent. */
  @Override
  public void close() {
    tools.close();
  }
}
