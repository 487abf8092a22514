"""What a command does when it needs several layers."""
