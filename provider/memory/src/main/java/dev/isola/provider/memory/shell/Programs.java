package dev.isola.provider.memory.shell;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Every program there is. */
final class Programs {
  private static final Map<String, Program> ALL = new TreeMap<>();

  static {
    ALL.putAll(TextPrograms.all());
    ALL.putAll(FilePrograms.all());
    ALL.putAll(SystemPrograms.all());
    ALL.put("sh", new ShellProgram());
  }

  private Programs() {}

  static Set<String> names() {
    return ALL.keySet();
  }

  static Program named(String name) {
    Program found = ALL.get(name);
    return found == null ? call -> call.complain("not a program of this simulation") : found;
  }
}
