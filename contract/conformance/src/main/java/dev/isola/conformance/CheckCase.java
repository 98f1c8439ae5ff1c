package dev.isola.conformance;

import dev.isola.spi.capability.Capability;
import java.util.List;

/**
 * One check.
 *
 * @param group the class's subject: {@code Exec} for {@code ExecChecks}
 * @param requirement the requirement it guards
 * @param needs capabilities without which it is not run
 * @param tools programs that must be in the sandbox's PATH, or it is not run
 */
public record CheckCase(
    String group,
    String name,
    String requirement,
    List<Class<? extends Capability>> needs,
    List<String> tools,
    Body body) {

  /** What a check does. */
  public interface Body {
    /**
     * Works with {@code subject}; whatever it throws is a verdict: {@link CheckNotRun}, or anything
     * else a failure.
     */
    void run(CheckContext subject) throws Throwable;
  }

  public CheckCase {
    needs = List.copyOf(needs);
    tools = List.copyOf(tools);
  }

  public String id() {
    return group + "." + name;
  }

  /** Runs it; whatever the check throws comes out as it is. */
  void run(CheckContext subject) throws Throwable {
    body.run(subject);
  }
}
