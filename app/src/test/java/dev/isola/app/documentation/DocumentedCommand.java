package dev.isola.app.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A command that a comment of a script or a page names, but that no test runs.
 *
 * @param place the file and the line
 * @param text the command line, perhaps with placeholders in capitals and brackets
 */
record DocumentedCommand(String place, String text) {
  private static final String PROGRAM =
      "(?:\\./(?:isola|check)|(?:testing|packaging|bench)/[a-z0-9/-]+(?:\\.sh)?)";
  private static final Pattern BEGINNING =
      Pattern.compile("(?:[A-Z_]+=\\S* )*" + PROGRAM + "\\b.*");

  /** A command, and in prose what follows it and is a word of options. */
  private static final Pattern MENTION =
      Pattern.compile("(?<![\\w/.$}])" + PROGRAM + "(?: --?[A-Za-z][\\w.=-]*)+");

  private static final Pattern USAGE = Pattern.compile("^# {3,}(\\S.*)$");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  /** Returns the commands that a script names in the comment at its beginning. */
  static List<DocumentedCommand> ofScript(String name, String script) {
    List<DocumentedCommand> commands = new ArrayList<>();
    List<String> lines = script.lines().toList();
    for (int i = 1; i < lines.size() && lines.get(i).startsWith("#"); i++) {
      String place = name + ":" + (i + 1);
      Matcher usage = USAGE.matcher(lines.get(i));
      if (usage.matches()) {
        // What follows a column of spaces is prose.
        String command = usage.group(1).split(" {2,}", 2)[0];
        if (BEGINNING.matcher(command).matches()) {
          commands.add(new DocumentedCommand(place, command));
        }
      }
      Matcher mention = MENTION.matcher(lines.get(i));
      while (mention.find()) {
        commands.add(new DocumentedCommand(place, mention.group()));
      }
    }
    return commands;
  }

  /** Returns the commands in blocks of a page that do not run, and in its code spans. */
  static List<DocumentedCommand> ofPage(MarkdownPage page, String text) {
    List<DocumentedCommand> commands = new ArrayList<>();
    for (FencedBlock block : page.blocks()) {
      if (block.language().equals("sh")
          && block.marks().notRun().isPresent()
          && !block.text().contains("<<")) {
        String script = block.text().replace("\\\n", " ");
        script
            .lines()
            .filter(line -> BEGINNING.matcher(line).matches())
            .forEach(
                line ->
                    commands.add(new DocumentedCommand(page.name() + ":" + block.line(), line)));
      }
    }
    int number = 0;
    for (String line : text.lines().toList()) {
      number++;
      Matcher code = CODE.matcher(line);
      while (code.find()) {
        if (BEGINNING.matcher(code.group(1)).matches()) {
          commands.add(new DocumentedCommand(page.name() + ":" + number, code.group(1)));
        }
      }
    }
    return commands;
  }

  /** Returns the shell scripts of the repository whose users are people. */
  static List<Path> scripts(Path root) throws IOException {
    List<Path> scripts = new ArrayList<>();
    for (String folder : List.of("testing", "packaging", "packaging/kubernetes", "bench")) {
      try (var files = Files.list(root.resolve(folder))) {
        for (Path file : files.sorted().toList()) {
          if (Files.isRegularFile(file) && Files.readString(file).startsWith("#!/bin/sh")) {
            scripts.add(file);
          }
        }
      }
    }
    return scripts;
  }

  /**
   * Returns the words of the simple commands of this line, without quotes, brackets and the three
   * points of a repetition.
   */
  List<List<String>> commands() {
    List<List<String>> commands = new ArrayList<>();
    List<String> words = new ArrayList<>();
    Matcher word =
        Pattern.compile("&&|\\|\\||;|#.*|(?:'[^']*'|\"[^\"]*\"|[^\\s;'\"])+").matcher(text);
    while (word.find()) {
      String found = word.group();
      if (found.startsWith("#")) {
        break;
      }
      if (found.matches("&&|\\|\\||;|\\|")) {
        commands.add(List.copyOf(words));
        words.clear();
      } else {
        String bare = found.replaceAll("^\\[+|(?:\\]|,?\\.\\.\\.)+$", "").replaceAll("['\"]", "");
        if (!bare.isEmpty()) {
          words.add(bare);
        }
      }
    }
    commands.add(List.copyOf(words));
    return commands;
  }
}
