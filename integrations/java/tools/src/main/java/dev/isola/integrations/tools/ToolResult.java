package dev.isola.integrations.tools;

import dev.isola.client.error.IsolaException;

/**
 * The result of a call, for the model.
 *
 * @param isError whether the call failed. A command that failed is a result: its text has the exit
 *     code
 */
public record ToolResult(String text, boolean isError) {
  static ToolResult of(String text) {
    return new ToolResult(text, false);
  }

  static ToolResult error(String code, String problem, String remedy) {
    return new ToolResult(code + ": " + problem + "\nRemedy: " + remedy, true);
  }

  /** Returns the result for a failure: its code, what failed and what to do. */
  public static ToolResult error(IsolaException e) {
    return error(e.code(), PlainText.of(e.problem().detail()), PlainText.of(e.remedy()));
  }
}
