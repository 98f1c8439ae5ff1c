package dev.isola.integrations.springai;

import dev.isola.client.Isola;
import dev.isola.client.Sandbox;
import dev.isola.integrations.tools.SandboxTools;
import dev.isola.integrations.tools.ToolOptions;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.definition.ToolDefinition;

/**
 * Tools that run commands and code in sandboxes. Each conversation has a sandbox of its own, which
 * its first call creates; closing the callbacks destroys them.
 *
 * <pre>{@code
 * try (IsolaToolCallbacks tools = IsolaToolCallbacks.creating(isola)) {
 *   chatClient
 *       .prompt("Multiply the numbers in n.txt.")
 *       .tools(tools)
 *       .toolContext(Map.of(ChatMemory.CONVERSATION_ID, conversation))
 *       .call()
 *       .content();
 * }
 * }</pre>
 */
public final class IsolaToolCallbacks implements ToolCallbackProvider, AutoCloseable {
  private final SandboxTools tools;
  private final ToolCallback[] callbacks;

  private IsolaToolCallbacks(SandboxTools tools) {
    this.tools = tools;
    this.callbacks =
        tools.definitions().stream()
            .map(
                tool ->
                    new Callback(
                        tools,
                        ToolDefinition.builder()
                            .name(tool.name())
                            .description(tool.description())
                            .inputSchema(tool.inputSchema())
                            .build()))
            .toArray(ToolCallback[]::new);
  }

  /** Returns tools that create a sandbox with the server's defaults for each conversation. */
  public static IsolaToolCallbacks creating(Isola isola) {
    return creating(isola, ToolOptions.DEFAULT);
  }

  /**
   * Returns tools that create a sandbox for each conversation. The tool context of every request
   * must have its id as {@link ChatMemory#CONVERSATION_ID}: without it, users would share a sandbox
   * by mistake, so a call without it throws an {@link IllegalStateException}.
   */
  public static IsolaToolCallbacks creating(Isola isola, ToolOptions options) {
    return new IsolaToolCallbacks(SandboxTools.creating(isola, options));
  }

  /** Returns tools that use one sandbox for everything and leave it running on close. */
  public static IsolaToolCallbacks in(Sandbox sandbox, ToolOptions options) {
    return new IsolaToolCallbacks(SandboxTools.in(sandbox, options));
  }

  private record Callback(SandboxTools tools, ToolDefinition definition) implements ToolCallback {
    @Override
    public ToolDefinition getToolDefinition() {
      return definition;
    }

    @Override
    public String call(String toolInput) {
      return call(toolInput, null);
    }

    @Override
    public String call(String toolInput, @Nullable ToolContext toolContext) {
      Object conversation =
          Optional.ofNullable(toolContext)
              .map(context -> context.getContext().get(ChatMemory.CONVERSATION_ID))
              .orElseGet(this::shared);
      return tools.call(conversation, definition.name(), toolInput).text();
    }

    private Object shared() {
      if (tools.createsSandboxes()) {
        throw new IllegalStateException(
            "the tool context has no conversation id, so the sandbox of this call is unknown; add"
                + " toolContext(Map.of(ChatMemory.CONVERSATION_ID, id)) to the request, or use"
                + " IsolaToolCallbacks.in(sandbox, options)");
      }
      return this; // the sandbox is the same for every session
    }
  }

  @Override
  public ToolCallback[] getToolCallbacks() {
    return callbacks.clone();
  }

  /** Destroys the sandbox of a conversation, if it has one. A later call creates another one. */
  public void endSession(Object conversation) {
    tools.endSession(conversation);
  }

  /** Destroys the sandboxes that these tools created. Idempotent. */
  @Override
  public void close() {
    tools.close();
  }
}
