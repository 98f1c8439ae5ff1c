/** The smallest provider on the guest agent: what ADD-PROVIDER.md builds step by step. */
@NullMarked
package dev.isola.provider.example;

import org.jspecify.annotations.NullMarked;
