package dev.isola.compat.e2b.template;

import java.util.List;
import java.util.Optional;

/**
 * One instruction of a template.
 *
 * @param filesHash names the archive of a COPY
 */
public record Step(String type, List<String> args, Optional<String> filesHash) {
  public Step {
    args = List.copyOf(args);
  }

  String arg(int index, String usual) {
    return index < args.size() && !args.get(index).isEmpty() ? args.get(index) : usual;
  }

  @Override
  public String toString() {
    return type + " " + String.join(" ", args);
  }
}
