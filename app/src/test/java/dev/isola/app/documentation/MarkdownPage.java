package dev.isola.app.documentation;

import dev.isola.app.documentation.FencedBlock.Marks;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The fenced blocks of a page, with the instructions before each. CONTRIBUTING.md describes them.
 *
 * @param name path of the page, relative to the root of the repository
 * @param problems instructions that are unknown or apply to no block, and a fence that is not
 *     closed; each with its position
 */
record MarkdownPage(String name, List<FencedBlock> blocks, List<String> problems) {
  private static final Pattern FENCE = Pattern.compile("^( *)(`{3,}|~{3,})(.*)$");
  private static final Pattern MARK = Pattern.compile("^ *<!-- *(.*?) *(-->)?$");

  static MarkdownPage parse(String name, String text) {
    return new Parser(name, text.lines().toList()).parse();
  }

  /** Reads a page line by line. */
  private static final class Parser {
    private final String name;
    private final List<String> lines;
    private final List<FencedBlock> blocks = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private Marks marks = Marks.NONE;
    private int next;

    Parser(String name, List<String> lines) {
      this.name = name;
      this.lines = lines;
    }

    MarkdownPage parse() {
      while (next < lines.size()) {
        String line = lines.get(next++);
        Matcher fence = FENCE.matcher(line);
        Matcher mark = MARK.matcher(line);
        if (fence.matches()) {
          block(fence);
        } else if (mark.matches()) {
          mark(mark);
        } else {
          unused();
        }
      }
      unused();
      return new MarkdownPage(name, blocks, problems);
    }

    private void block(Matcher opening) {
      int first = next;
      int indent = opening.group(1).length();
      StringBuilder text = new StringBuilder();
      while (next < lines.size()) {
        String line = lines.get(next++);
        if (line.strip().equals(opening.group(2))) {
          blocks.add(
              new FencedBlock(name, first, opening.group(3).strip(), text.toString(), marks));
          marks = Marks.NONE;
          return;
        }
        int blank = line.length() - line.stripLeading().length();
        text.append(line.substring(Math.min(indent, blank))).append('\n');
      }
      problems.add(name + ":" + first + ": the block is not closed");
    }

    private void mark(Matcher comment) {
      int first = next;
      String text = comment.group(1);
      if (comment.group(2) == null) {
        text = text + "\n" + restOfComment();
      }
      if (text.startsWith("not run:")) {
        String reason = text.substring("not run:".length()).strip();
        if (reason.isEmpty()) {
          problems.add(name + ":" + first + ": 'not run' has no reason");
        }
        marks = marks.withNotRun(reason);
      } else if (text.startsWith("typed:")) {
        marks = marks.withTyped(text.substring("typed:".length()).strip());
      } else if (text.startsWith("java:")) {
        marks = marks.withJava(text.substring("java:".length()).strip());
      } else if (text.startsWith("prints:")) {
        marks = marks.withPrints(text.substring("prints:".length()).strip());
      } else if (text.startsWith("excerpt of:")) {
        marks = marks.withExcerptOf(text.substring("excerpt of:".length()).strip());
      } else if (text.equals("output")) {
        marks = marks.asOutput();
      } else if (text.matches("(?is)(not[ -]?run|typed|output|prints|java|excerpt)\\b.*")) {
        problems.add(
            name
                + ":"
                + first
                + ": unknown instruction '"
                + text.lines().findFirst().orElse("")
                + "'; CONTRIBUTING.md lists them");
      }
    }

    private String restOfComment() {
      StringBuilder text = new StringBuilder();
      while (next < lines.size()) {
        String line = lines.get(next++).stripTrailing();
        if (line.endsWith("-->")) {
          return text.append(line, 0, line.length() - "-->".length()).toString();
        }
        text.append(line).append('\n');
      }
      problems.add(name + ":" + next + ": a comment is not closed");
      return text.toString();
    }

    private void unused() {
      if (!marks.equals(Marks.NONE)) {
        problems.add(name + ":" + (next - 1) + ": the instruction is not directly before a block");
        marks = Marks.NONE;
      }
    }
  }
}
