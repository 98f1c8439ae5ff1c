package dev.isola.client;

import dev.isola.client.error.IsolaException;
import dev.isola.client.error.Problem;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Outcome of a batch of file operations. Completed operations are not undone when another one
 * fails.
 *
 * @param results one for each operation that was attempted, in order
 * @param left number of operations that were not attempted because an earlier one failed
 * @param document complete JSON object of the server
 */
public record FileBatchResult(List<Result> results, int left, Map<String, Object> document) {

  /**
   * Outcome of one operation.
   *
   * @param file after write and stat
   * @param problem why it failed; empty if it succeeded
   */
  public record Result(
      Optional<FileInfo> file, Optional<Object> content, Optional<Problem> problem) {
    public boolean succeeded() {
      return problem.isEmpty();
    }

    /** Returns the content that a read returned; empty after other operations. */
    public Optional<byte[]> bytes() {
      return content.map(FileBatch::bytes);
    }

    /** Returns the content that a read returned, as UTF-8; empty after other operations. */
    public Optional<String> text() {
      return bytes().map(bytes -> new String(bytes, StandardCharsets.UTF_8));
    }
  }

  public FileBatchResult {
    results = List.copyOf(results);
  }

  /** Returns whether all operations were executed successfully. */
  public boolean succeeded() {
    return left == 0 && results.stream().allMatch(Result::succeeded);
  }

  /**
   * Returns this result.
   *
   * @throws IsolaException the error of the first operation that failed
   */
  public FileBatchResult orThrow() {
    Optional<Problem> failure = results.stream().flatMap(one -> one.problem().stream()).findFirst();
    if (failure.isPresent()) {
      throw failure.get().exception();
    }
    return this;
  }

  static FileBatchResult read(JsonFields fields) {
    return new FileBatchResult(
        fields.list("results").stream().map(FileBatchResult::result).toList(),
        (int) fields.integer("left"),
        fields.all());
  }

  private static Result result(JsonFields fields) {
    JsonFields file = fields.object("file");
    JsonFields problem = fields.object("problem");
    return new Result(
        file.all().isEmpty() ? Optional.empty() : Optional.of(FileInfo.read(file)),
        Optional.ofNullable(fields.all().get("content")),
        fields.flag("ok")
            ? Optional.empty()
            : Optional.of(
                Transport.problem(
                    problem, problem.optionalInteger("status").orElse(0L).intValue(), "")));
  }
}
