package dev.isola.conformance.escape;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a probe needs to know: the id of what was planted, where each thing is, and facts of the
 * host to compare with. A fact may have several values.
 */
public record ProbeContext(String id, Map<String, List<String>> facts) {
  private static final String PREFIX = "isola-planted-";

  public ProbeContext {
    facts = Map.copyOf(facts);
  }

  /** Says that something could not be planted here, or is not to be found on this machine. */
  public static final class TargetMissingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    TargetMissingException(String name) {
      super("this machine has nothing to attack: " + name);
    }
  }

  /** Returns the words that everything planted bears: as a name, or as its content. */
  public String mark() {
    return markOf(id);
  }

  static String markOf(String id) {
    return PREFIX + id;
  }

  /**
   * Returns a fact.
   *
   * @throws TargetMissingException when there is none
   */
  public String one(String name) {
    return all(name).getFirst();
  }

  /** Returns all values of a fact, at least one, or throws likewise. */
  public List<String> all(String name) {
    List<String> values = facts.getOrDefault(name, List.of());
    if (values.isEmpty()) {
      throw new TargetMissingException(name);
    }
    return values;
  }

  /** Returns this scene with further facts. */
  public ProbeContext with(String name, List<String> values) {
    Map<String, List<String>> more = new HashMap<>(facts);
    more.put(name, List.copyOf(values));
    return new ProbeContext(id, more);
  }
}
