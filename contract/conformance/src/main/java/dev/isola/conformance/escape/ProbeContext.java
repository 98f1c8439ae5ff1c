package dev.isola.conformance.escape;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Context passed to a probe: the id of the targets, where they are, and facts about the host to
 * compare with. A fact may have several values.
 */
public record ProbeContext(String id, Map<String, List<String>> facts) {
  private static final String PREFIX = "isola-planted-";

  public ProbeContext {
    facts = Map.copyOf(facts);
  }

  /** Thrown when a target could not be created or does not exist on this machine. */
  public static final class TargetMissingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    TargetMissingException(String name) {
      super("there is no target on this machine: " + name);
    }
  }

  /** Returns the text that is part of the name or content of every target. */
  public String mark() {
    return markOf(id);
  }

  static String markOf(String id) {
    return PREFIX + id;
  }

  /**
   * Returns the value of a fact.
   *
   * @throws TargetMissingException if there is none
   */
  public String one(String name) {
    return all(name).getFirst();
  }

  /**
   * Returns all values of a fact, at least one.
   *
   * @throws TargetMissingException if there is none
   */
  public List<String> all(String name) {
    List<String> values = facts.getOrDefault(name, List.of());
    if (values.isEmpty()) {
      throw new TargetMissingException(name);
    }
    return values;
  }

  /** Returns this context with an additional fact. */
  public ProbeContext with(String name, List<String> values) {
    Map<String, List<String>> more = new HashMap<>(facts);
    more.put(name, List.copyOf(values));
    return new ProbeContext(id, more);
  }
}
