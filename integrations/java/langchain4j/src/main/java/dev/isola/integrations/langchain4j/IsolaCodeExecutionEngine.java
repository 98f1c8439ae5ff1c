package dev.isola.integrations.langchain4j;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.client.error.IsolaException;
import dev.isola.integrations.tools.CodeLanguage;
import dev.isola.integrations.tools.SandboxTools;
import dev.isola.integrations.tools.ToolOptions;
import dev.langchain4j.code.CodeExecutionEngine;
import java.util.function.Function;

/**
 * Runs code in one sandbox, which the first execution creates and closing the engine destroys.
 * Files stay from execution to execution, variables do not.
 *
 * <p>The result is what the code printed, followed by its exit code. If it could not be run, the
 * result is the error, so that the model reads it.
 */
public final class IsolaCodeExecutionEngine implements CodeExecutionEngine, AutoCloseable {
  private final SandboxTools tools;
  private final CodeLanguage language;

  private IsolaCodeExecutionEngine(SandboxTools tools, CodeLanguage language) {
    this.tools = tools;
    this.language = language;
  }

  /** Returns a builder of an engine that creates its sandbox. */
  public static Builder builder(Isola isola) {
    return new Builder(options -> SandboxTools.creating(isola, options));
  }

  /** Returns a builder of an engine that uses a sandbox and leaves it running on close. */
  public static Builder builder(Sandbox sandbox) {
    return new Builder(options -> SandboxTools.in(sandbox, options));
  }

  /** Builder of an engine: Python by default. */
  public static final class Builder {
    private final Function<ToolOptions, SandboxTools> tools;
    private CodeLanguage language = CodeLanguage.PYTHON;
    private ToolOptions options = ToolOptions.DEFAULT;

    private Builder(Function<ToolOptions, SandboxTools> tools) {
      this.tools = tools;
    }

    public Builder language(CodeLanguage of) {
      language = of;
      return this;
    }

    /** Sets the spec of the sandbox, the timeout of an execution and the length of its result. */
    public Builder options(ToolOptions all) {
      options = all;
      return this;
    }

    public IsolaCodeExecutionEngine build() {
      return new IsolaCodeExecutionEngine(tools.apply(options), language);
    }
  }

  @Override
  public String execute(String code) {
    try {
      return tools.runCode(this, language, code).text();
    } catch (IsolaException e) {
      return tools.error(e).text();
    }
  }

  /** Destroys the sandbox, if this engine created one. Idempotent. */
  @Override
  public void close() {
    tools.close();
  }
}
