package dev.isola.conformance;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.provider.BasicFeature;
import java.util.List;

/**
 * A single check.
 *
 * @param group the name of the class without its suffix: {@code Exec} for {@code ExecChecks}
 * @param requirement the requirement that the check covers
 * @param needs capabilities that the check needs; it is not run without them
 * @param basics parts of the contract that the check needs; it is not run if they are lacking
 * @param tools programs that must be in the PATH of the sandbox; the check is not run without them
 */
public record CheckCase(
    String group,
    String name,
    String requirement,
    List<Class<? extends Capability>> needs,
    List<BasicFeature> basics,
    List<String> tools,
    Body body) {

  /** The code of a check. */
  public interface Body {
    /** Runs the check. {@link CheckNotRun} means not run; any other exception is a failure. */
    void run(CheckContext context) throws Throwable;
  }

  public CheckCase {
    needs = List.copyOf(needs);
    basics = List.copyOf(basics);
    tools = List.copyOf(tools);
  }

  public String id() {
    return group + "." + name;
  }

  /** Runs the check and passes its exception through unchanged. */
  void run(CheckContext context) throws Throwable {
    body.run(context);
  }
}
