// Generated from the OpenAPI document by GeneratedFilesTest in client/test. Do not edit.
package dev.isola.client;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** Sets the fields of a create request that need no method of their own. */
public abstract sealed class CreateFields permits SandboxSpec.Builder {
  CreateFields() {}

  /** Sets a value in an object, or in objects within it, and keeps their other fields. */
  abstract SandboxSpec.Builder put(Object value, String... path);

  private static Number seconds(Duration time) {
    return time.getNano() == 0
        ? (Number) time.toSeconds()
        : BigDecimal.valueOf(time.getSeconds()).add(BigDecimal.valueOf(time.getNano(), 9));
  }

  /** Sets {@code name}: name of the sandbox; unique until the sandbox is destroyed. */
  public SandboxSpec.Builder name(String value) {
    return put(value, "name");
  }

  /** Sets {@code provider}: name of a provider, or auto. */
  public SandboxSpec.Builder provider(String value) {
    return put(value, "provider");
  }

  /** Sets {@code template}: name of a template; alternative to image. */
  public SandboxSpec.Builder template(String value) {
    return put(value, "template");
  }

  /** Sets {@code region}: only providers in this region. */
  public SandboxSpec.Builder region(String value) {
    return put(value, "region");
  }

  /** Sets {@code idleTimeoutSeconds}: idle time after which the sandbox ends. */
  public SandboxSpec.Builder idleTimeout(Duration time) {
    return put(time.toSeconds(), "idleTimeoutSeconds");
  }

  /** Sets {@code apiVersion}: version of the spec; default v2. */
  public SandboxSpec.Builder apiVersion(String value) {
    return put(value, "apiVersion");
  }

  /** Sets {@code id}: sandbox id; generated if absent. */
  public SandboxSpec.Builder id(String value) {
    return put(value, "id");
  }

  /** Sets {@code image}: name of an image, or snapshot:ID. */
  public SandboxSpec.Builder image(String value) {
    return put(value, "image");
  }

  /** Sets {@code env}: environment variables. */
  public SandboxSpec.Builder env(String name, String value) {
    return put(value, "env", name);
  }

  /**
   * Sets {@code secretEnv}: variables whose values are never returned; responses contain their
   * names.
   */
  public SandboxSpec.Builder secretEnv(String name, String value) {
    return put(value, "secretEnv", name);
  }

  /** Sets {@code cwd}: default working directory of commands. */
  public SandboxSpec.Builder cwd(String value) {
    return put(value, "cwd");
  }

  /** Sets {@code user}: default user of commands. */
  public SandboxSpec.Builder user(String value) {
    return put(value, "user");
  }

  /** Sets {@code workspacePath}: folder of the host to use as workspace; requires scope admin. */
  public SandboxSpec.Builder workspacePath(String value) {
    return put(value, "workspacePath");
  }

  /** Sets {@code workspaceMount}: path of the workspace; default /workspace. */
  public SandboxSpec.Builder workspaceMount(String value) {
    return put(value, "workspaceMount");
  }

  /** Sets {@code seedFiles}: files to create, by path. */
  public SandboxSpec.Builder seedFile(String name, String value) {
    return put(value, "seedFiles", name);
  }

  /** Sets {@code init}: command that must succeed before the sandbox is ready. */
  public SandboxSpec.Builder init(String value) {
    return put(value, "init");
  }

  /** Sets {@code startupTimeoutMs}: time for the start, including init. */
  public SandboxSpec.Builder startupTimeout(Duration time) {
    return put(time.toMillis(), "startupTimeoutMs");
  }

  /** Sets {@code tags}: at most 64 tags to attach to the sandbox. */
  public SandboxSpec.Builder tag(String name, String value) {
    return put(value, "tags", name);
  }

  /** Sets {@code ttlSeconds}: lifetime; default: set by the operator. */
  public SandboxSpec.Builder ttl(Duration time) {
    return put(seconds(time), "ttlSeconds");
  }

  /**
   * Sets {@code lingerSeconds}: time after which the sandbox ends if no server is connected to it.
   */
  public SandboxSpec.Builder linger(Duration time) {
    return put(seconds(time), "lingerSeconds");
  }

  /** Sets {@code autoResume}: whether requests resume it; default false. */
  public SandboxSpec.Builder autoResume(boolean value) {
    return put(value, "autoResume");
  }

  /** Sets {@code whenIdle}: what happens after idleTimeoutSeconds. */
  public SandboxSpec.Builder whenIdle(String value) {
    return put(value, "whenIdle");
  }

  /** Sets {@code whenExpired}: what happens after ttlSeconds. */
  public SandboxSpec.Builder whenExpired(String value) {
    return put(value, "whenExpired");
  }

  /** Sets {@code containerType}: purpose of the sandbox. */
  public SandboxSpec.Builder containerType(String value) {
    return put(value, "containerType");
  }

  /** Sets {@code mcp.command}: program that speaks MCP on standard input and output. */
  public SandboxSpec.Builder mcpCommand(String value) {
    return put(value, "mcp", "command");
  }

  /** Sets {@code mcp.args}: arguments; *** below scope use. */
  public SandboxSpec.Builder mcpArgs(Collection<String> values) {
    return put(List.copyOf(values), "mcp", "args");
  }

  /** Sets {@code mcp.env}: additional environment variables; *** below scope use. */
  public SandboxSpec.Builder mcpEnv(String name, String value) {
    return put(value, "mcp", "env", name);
  }

  /** Sets {@code mcp.cwd}: working directory. */
  public SandboxSpec.Builder mcpCwd(String value) {
    return put(value, "mcp", "cwd");
  }

  /** Sets {@code mcp.user}: user that runs the program. */
  public SandboxSpec.Builder mcpUser(String value) {
    return put(value, "mcp", "user");
  }

  /** Sets {@code mcp.restart}: whether it is started again after it has exited; default always. */
  public SandboxSpec.Builder mcpRestart(String value) {
    return put(value, "mcp", "restart");
  }

  /** Sets {@code gpus}: number of GPUs. */
  public SandboxSpec.Builder gpus(int value) {
    return put(value, "gpus");
  }

  /** Sets {@code require.isolation}: the weakest isolation that is allowed. */
  public SandboxSpec.Builder requireIsolation(String value) {
    return put(value, "require", "isolation");
  }

  /** Sets {@code require.capabilities}: capabilities that the provider must have. */
  public SandboxSpec.Builder requireCapabilities(Collection<String> values) {
    return put(List.copyOf(values), "require", "capabilities");
  }

  /** Sets {@code require.limits}: limits that the provider must enforce. */
  public SandboxSpec.Builder requireLimits(Collection<String> values) {
    return put(List.copyOf(values), "require", "limits");
  }
}
