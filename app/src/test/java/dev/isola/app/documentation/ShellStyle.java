package dev.isola.app.documentation;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds prose on the command lines of a shell block, which a reader would paste as arguments. */
final class ShellStyle {
  private static final Pattern HERE_DOCUMENT = Pattern.compile("<<-?\\s*['\"]?([A-Za-z_]+)['\"]?");
  private static final Pattern QUOTED = Pattern.compile("'[^']*'|\"(?:[^\"\\\\]|\\\\.)*\"");
  private static final Pattern COLUMN = Pattern.compile("\\S {2,}[^ #]");
  private static final Pattern PROMPT = Pattern.compile("^\\s*[$%>] .*");

  private ShellStyle() {}

  /** Returns a description of each finding, with the number of its line in the block, from 1. */
  static List<String> findings(String script) {
    List<String> findings = new ArrayList<>();
    List<String> lines = script.lines().toList();
    String end = "";
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (!end.isEmpty()) {
        end = line.strip().equals(end) ? "" : end;
        continue;
      }
      String bare = QUOTED.matcher(line).replaceAll("q");
      Matcher here = HERE_DOCUMENT.matcher(line);
      if (here.find() && !line.contains("<<<")) {
        end = here.group(1);
      }
      if (PROMPT.matcher(line).matches()) {
        findings.add("line " + (i + 1) + " begins with a prompt: " + line);
      }
      if (COLUMN.matcher(bare.replaceFirst("(^|\\s)#.*", "")).find()) {
        findings.add("line " + (i + 1) + " has text behind a column of spaces: " + line);
      }
      if (bare.matches(".*(\\.\\.\\.|…).*") && !bare.matches("^[^#]*#.*(\\.\\.\\.|…).*")) {
        findings.add("line " + (i + 1) + " has an ellipsis, which cannot be pasted: " + line);
      }
    }
    return findings;
  }
}
