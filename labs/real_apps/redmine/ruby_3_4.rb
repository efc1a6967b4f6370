# frozen_string_literal: true

# Added by PumaTuner's set-up, and loaded before anything else: what Redmine 5.0 and Rails 6.1 expect of an older Ruby.

# Ruby 3.2 removed it; Debian's multitenancy_environment.rb calls it.
File.singleton_class.alias_method :exists?, :exist?
