package dev.isola.provider.subprocess;

import dev.isola.link.local.SandboxFolder;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The git worktree of one sandbox, on its own branch {@code isola/ID}. A file next to it names its
 * repository and is written before the worktree exists.
 */
record Worktree(Path tree, SandboxId id) {

  private Path repositoryFile() {
    return tree.resolveSibling(id + ".repository");
  }

  private String branch() {
    return "isola/" + id;
  }

  /** Returns true when there is a worktree, or the file that announces one. */
  boolean exists() {
    return Files.exists(repositoryFile());
  }

  /** Creates the worktree from {@code ref} of {@code repository}. */
  void create(Path repository, String ref) throws IOException {
    Git git = new Git(repository);
    if (!git.tryRun("rev-parse", "--git-dir").ok()) {
      throw Fault.of(
              ErrorCode.INVALID_SPEC,
              "workspacePath is not a git repository: " + repository,
              "name a repository, or run git init there")
          .sandbox(id)
          .exception();
    }
    Optional<String> commit = commit(git, ref);
    if (commit.isEmpty()) {
      throw Fault.of(
              ErrorCode.INVALID_SPEC,
              "image is not a commit of " + repository + ": " + ref,
              "use an existing branch, tag or commit (git branch -a)")
          .sandbox(id)
          .exception();
    }
    Files.createDirectories(tree.getParent());
    Files.writeString(repositoryFile(), repository.toString());
    git.run("worktree", "add", "--quiet", "-b", branch(), tree.toString(), commit.get());
  }

  private static Optional<String> commit(Git git, String ref) {
    Git.GitResult answer =
        git.tryRun("rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}");
    return answer.ok() ? Optional.of(answer.text().strip()) : Optional.empty();
  }

  /**
   * Throws when the worktree contains unsaved work: uncommitted files, or commits that no other
   * branch, tag or remote has.
   *
   * @throws dev.isola.spi.error.Conflict with {@code UNSAVED_WORK}, naming the worktree and the
   *     branch
   */
  void requireNoUnsavedWork() {
    if (!Files.isDirectory(tree)) {
      return;
    }
    Git git = new Git(tree);
    long files = lines(git.run("status", "--porcelain", "--untracked-files=all"));
    long commits =
        lines(
            git.run(
                "rev-list",
                "HEAD",
                "--not",
                "--exclude=" + branch(), // not --all, which would include HEAD itself
                "--branches",
                "--tags",
                "--remotes"));
    if (files + commits > 0) {
      throw Fault.of(
              ErrorCode.UNSAVED_WORK,
              "sandbox "
                  + id
                  + " has unsaved work: "
                  + files
                  + " uncommitted files and "
                  + commits
                  + " unpushed commits in "
                  + tree
                  + " (branch "
                  + branch()
                  + ")",
              "commit and push or merge it, or destroy with force to discard it")
          .sandbox(id)
          .with("folder", tree.toString())
          .with("branch", branch())
          .exception();
    }
  }

  /** Removes worktree, branch and file, whatever their content. Idempotent. */
  void remove() throws IOException {
    if (!exists()) {
      return;
    }
    Path repository = Path.of(Files.readString(repositoryFile()).strip());
    if (Files.isDirectory(repository)) {
      Git git = new Git(repository);
      git.tryRun("worktree", "remove", "--force", "--force", tree.toString());
      new SandboxFolder(tree).remove();
      git.tryRun("worktree", "prune");
      git.tryRun("branch", "--quiet", "-D", branch());
    }
    new SandboxFolder(tree).remove();
    Files.deleteIfExists(repositoryFile());
  }

  private static long lines(String text) {
    return text.lines().filter(line -> !line.isBlank()).count();
  }
}
