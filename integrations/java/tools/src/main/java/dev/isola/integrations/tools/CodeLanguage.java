package dev.isola.integrations.tools;

import java.util.ArrayList;
import java.util.List;

/**
 * A language whose interpreter takes code as an argument.
 *
 * @param name as models call it
 * @param interpreter program and options; the code is the next argument
 */
public record CodeLanguage(String name, List<String> interpreter) {
  public static final CodeLanguage PYTHON = new CodeLanguage("python", List.of("python3", "-c"));
  public static final CodeLanguage JAVASCRIPT =
      new CodeLanguage("javascript", List.of("node", "-e"));
  public static final CodeLanguage SHELL = new CodeLanguage("shell", List.of("/bin/sh", "-c"));

  public CodeLanguage {
    interpreter = List.copyOf(interpreter);
    if (name.isEmpty() || interpreter.isEmpty()) {
      throw new IllegalArgumentException("a language has a name and an interpreter");
    }
  }

  List<String> argv(String code) {
    List<String> argv = new ArrayList<>(interpreter);
    argv.add(code);
    return argv;
  }
}
