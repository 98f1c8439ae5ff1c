package dev.isola.provider.subprocess;

import dev.isola.spi.Provider;
import dev.isola.spi.ProviderConfig;
import dev.isola.spi.ProviderContext;
import dev.isola.spi.ProviderFactory;
import dev.isola.spi.ProviderProfile;

/**
 * Makes the {@code worktree} provider. The setting {@code repository} names the repository of specs
 * that name none by their {@code workspacePath}.
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
  public Provider create(ProviderConfig config, ProviderContext context) {
    return new WorktreeProvider(config, context);
  }
}
