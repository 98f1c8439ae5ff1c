package dev.isola.provider.subprocess;

import dev.isola.spi.provider.Provider;
import dev.isola.spi.provider.ProviderConfig;
import dev.isola.spi.provider.ProviderContext;
import dev.isola.spi.provider.ProviderFactory;
import dev.isola.spi.provider.ProviderProfile;
import java.util.List;

/**
 * Creates the {@code worktree} provider. The setting {@code repository} names the repository for
 * specs without a {@code workspacePath}.
 */
public final class WorktreeProviderFactory implements ProviderFactory {
  @Override
  public String name() {
    return WorktreeProvider.NAME;
  }

  @Override
  public ProviderProfile profile() {
    return SubprocessInfo.PROFILE.whenNamed(); // it needs a repository
  }

  @Override
  public List<String> programs() {
    return List.of("git");
  }

  @Override
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new WorktreeProvider(config, context);
  }
}
