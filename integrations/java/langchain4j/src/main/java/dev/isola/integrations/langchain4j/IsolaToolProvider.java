package dev.isola.integrations.langchain4j;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.integrations.tools.SandboxTools;
import dev.isola.integrations.tools.ToolDefinition;
import dev.isola.integrations.tools.ToolOptions;
import dev.isola.integrations.tools.ToolParameter;
import dev.isola.integrations.tools.ToolResult;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.service.tool.ToolExecutionResult;
import dev.langchain4j.service.tool.ToolExecutor;
import dev.langchain4j.service.tool.ToolProvider;
import dev.langchain4j.service.tool.ToolProviderRequest;
import dev.langchain4j.service.tool.ToolProviderResult;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Gives an AI service tools that run commands and code in sandboxes. Each memory id has a sandbox
 * of its own, which its first call creates; closing the provider destroys them.
 *
 * <pre>{@code
 * try (IsolaToolProvider tools = IsolaToolProvider.creating(isola)) {
 *   Assistant assistant =
 *       AiServices.builder(Assistant.class).chatModel(model).toolProvider(tools).build();
 *   ...
 * }
 * }</pre>
 */
public final class IsolaToolProvider implements ToolProvider, AutoCloseable {
  /** The memory id of LangChain4j for an AI service without {@code @MemoryId}. */
  private static final Object NO_MEMORY_ID = "default";

  private final SandboxTools tools;
  private final ToolProviderResult result;

  private IsolaToolProvider(SandboxTools tools) {
    this.tools = tools;
    ToolProviderResult.Builder all = ToolProviderResult.builder();
    tools.definitions().forEach(tool -> all.add(specification(tool), new Executor(tools)));
    this.result = all.build();
  }

  /** Returns a provider that creates a sandbox with the server's defaults for each memory id. */
  public static IsolaToolProvider creating(Isola isola) {
    return creating(isola, ToolOptions.DEFAULT);
  }

  /** Returns a provider that creates a sandbox for each memory id. */
  public static IsolaToolProvider creating(Isola isola, ToolOptions options) {
    return new IsolaToolProvider(SandboxTools.creating(isola, options));
  }

  /** Returns a provider that uses one sandbox for all memory ids and leaves it running on close. */
  public static IsolaToolProvider in(Sandbox sandbox, ToolOptions options) {
    return new IsolaToolProvider(SandboxTools.in(sandbox, options));
  }

  private static ToolSpecification specification(ToolDefinition tool) {
    JsonObjectSchema.Builder schema = JsonObjectSchema.builder();
    for (ToolParameter parameter : tool.parameters()) {
      String name = parameter.name();
      switch (parameter.type()) {
        case INTEGER -> schema.addIntegerProperty(name, parameter.description());
        case TEXT -> {
          if (parameter.choices().isEmpty()) {
            schema.addStringProperty(name, parameter.description());
          } else {
            schema.addEnumProperty(name, parameter.choices(), parameter.description());
          }
        }
      }
    }
    schema.required(
        tool.parameters().stream()
            .filter(ToolParameter::required)
            .map(ToolParameter::name)
            .toList());
    return ToolSpecification.builder()
        .name(tool.name())
        .description(tool.description())
        .parameters(schema.additionalProperties(false).build())
        .build();
  }

  private record Executor(SandboxTools tools) implements ToolExecutor {
    @Override
    public String execute(ToolExecutionRequest request, @Nullable Object memoryId) {
      return call(request, memoryId).text();
    }

    @Override
    public ToolExecutionResult executeWithContext(
        ToolExecutionRequest request, @Nullable InvocationContext context) {
      ToolResult result = call(request, context == null ? null : context.chatMemoryId());
      return ToolExecutionResult.builder()
          .isError(result.isError())
          .resultText(result.text())
          .build();
    }

    private ToolResult call(ToolExecutionRequest request, @Nullable Object memoryId) {
      return tools.call(
          Objects.requireNonNullElse(memoryId, NO_MEMORY_ID),
          request.name(),
          Objects.requireNonNullElse(request.arguments(), ""));
    }
  }

  @Override
  public ToolProviderResult provideTools(ToolProviderRequest request) {
    return result;
  }

  /** Destroys the sandbox of a memory id, if it has one. A later call creates another one. */
  public void endSession(Object memoryId) {
    tools.endSession(memoryId);
  }

  /** Destroys the sandboxes that this provider created. Idempotent. */
  @Override
  public void close() {
    tools.close();
  }
}
