package dev.isola.server.api;

import dev.isola.server.route.MatchingText;
import dev.isola.server.route.Parameter;
import dev.isola.server.route.Shape;
import dev.isola.server.route.Shape.Field;
import dev.isola.spi.Isolation;
import dev.isola.spi.SandboxState;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Shapes that several routes share. */
final class Shapes {
  static final int LONGEST_PATH = 4096;

  static final Shape TEXT = new Shape.Text(1 << 20, "");
  static final Shape WORD = new Shape.NonEmptyText(256);
  static final Shape SANDBOX_NAME = new Shape.NonEmptyText(63);
  static final Shape PATH = new Shape.NonEmptyText(LONGEST_PATH);
  static final Shape TIME = new Shape.Text(64, "date-time");
  static final Shape COUNT = new Shape.WholeNumber(0, Long.MAX_VALUE);
  static final Shape FLAG = new Shape.Flag();
  static final Shape TEXTS = new Shape.MapOf(TEXT);

  static final Shape TAG = new MatchingText("^[^=]+=", 600, "must be NAME=VALUE", "team=red");

  /** At most one year. */
  static final Shape SECONDS = new Shape.WholeNumber(1, 31_536_000);

  static final Shape STATE =
      new Shape.Choice(
          "SandboxState",
          Stream.of(SandboxState.values())
              .map(state -> state.name().toLowerCase(Locale.ROOT))
              .toList());

  static final Shape SANDBOX_ID =
      new MatchingText(
          "^[a-z0-9]{1,32}$", 32, "must be 1 to 32 lower-case letters and digits", "k3v9x2m7q4n8");

  static final Parameter ID =
      Parameter.path("id", SANDBOX_ID, "sandbox id: 1 to 32 of a-z and 0-9");

  static final Shape ISOLATION =
      new Shape.Choice(
          "Isolation", Stream.of(Isolation.values()).map(JsonViews::wireName).toList());

  static final Shape.Obj FILE =
      new Shape.Obj(
              Field.required("path", PATH, "path for further requests")
                  .example("/workspace/hello.txt"),
              Field.required(
                      "name",
                      new Shape.Text(LONGEST_PATH, ""),
                      "last segment of the path; empty for the root of a sandbox")
                  .example("hello.txt"),
              Field.required(
                  "type",
                  new Shape.Choice("FileType", List.of("file", "folder", "link", "other")),
                  "type of the file"),
              Field.required("mode", WORD, "permission bits, such as 0644").example("0644"),
              Field.required("size", COUNT, "size in bytes").example(6),
              Field.required("uid", COUNT, "user id of the owner").example(1000),
              Field.required("gid", COUNT, "group id").example(1000),
              Field.required("owner", TEXT, "name of the owner in the sandbox").example("agent"),
              Field.required("group", TEXT, "name of the group in the sandbox").example("agent"),
              Field.required("modifiedAt", TIME, "time of the last modification"),
              Field.optional("linkTarget", PATH, "target of a symbolic link"))
          .named("FileInfo");

  /** The number of entries and bytes of an archive. */
  static final Shape.Obj TREE_SUMMARY =
      new Shape.Obj(
              Field.required("entries", COUNT, "number of entries").example(3),
              Field.required("bytes", COUNT, "size of the content").example(1200))
          .named("TreeSummary");

  /** How a command ended. Which fields are present depends on the kind. */
  static final Shape.Obj EXIT =
      new Shape.Obj(
              Field.required(
                  "kind",
                  new Shape.Choice(
                      "ExitKind", List.of("exited", "signaled", "timedOut", "outOfMemory", "lost")),
                  "how the command ended"),
              Field.optional("code", new Shape.WholeNumber(0, 255), "exit code, if it exited")
                  .example(0),
              Field.optional("signal", WORD, "name of the signal, if one ended it"),
              Field.optional("number", new Shape.WholeNumber(0, 255), "number of the signal"),
              Field.optional("afterMs", COUNT, "the timeout, if it was exceeded"),
              Field.optional("why", TEXT, "why the result is unknown, if it was lost"))
          .named("Exit");

  private Shapes() {}
}
